/**
 * Loaded first, by `--require`, into a process whose wall clock must be ahead by CRONLATCH_TORTURE_SKEW_MS.
 */
const aheadMs = Number(process.env['CRONLATCH_TORTURE_SKEW_MS']);
const RealDate = Date;
const now = (): number => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  get: (target, key, receiver): unknown => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});
