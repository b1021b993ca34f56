import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { businessDateAt, startOfBusinessDate } from '#cronlatch/ledger/periods/business-date';
import { sampleSize } from '../../support/checks/sample-size';
import { WallClock } from '../../support/clocks/wall';

const ZONES = Intl.supportedValuesOf('timeZone');
const YEARS = Array.from({ length: 129 }, (_, i) => 1972 + i);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const YEARS_EACH = sampleSize({ fast: 1, full: YEARS.length });
/** Per year of each zone. */
const INSTANTS_EACH = sampleSize({ fast: 5, full: 20 });

/** One year of one zone, with its clock changes. */
class ZoneYear {
  readonly #clock: WallClock;
  readonly #fromMs: number;
  readonly #toMs: number;
  readonly #jumps: number[];

  constructor(
    readonly timeZone: string,
    year: number,
  ) {
    this.#clock = new WallClock(timeZone);
    this.#fromMs = Date.UTC(year, 0, 1);
    this.#toMs = Date.UTC(year + 1, 0, 1);
    this.#jumps = this.#clock.jumps(this.#fromMs - 4 * DAY_MS, this.#toMs, DAY_MS);
  }

  /** Half of them near a clock change, if there is one. */
  instants(): fc.Arbitrary<number> {
    const anywhere = fc.integer({ min: this.#fromMs, max: this.#toMs });
    if (this.#jumps.length === 0) return anywhere;
    const away = fc.oneof(
      fc.integer({ min: -26 * HOUR_MS, max: 26 * HOUR_MS }),
      fc.integer({ min: -2, max: 2 }),
    );
    const nearby = fc.tuple(fc.constantFrom(...this.#jumps), away).map(([jump, awayMs]) => jump + awayMs);
    return fc.oneof(anywhere, nearby);
  }

  /** By the definition: the latest date whose start the clock has reached so far. */
  dateAt(atMs: number, dayStartMinutes: number): string {
    const before = this.#jumps.filter((jump) => jump <= atMs).map((jump) => jump - 1);
    const reachedMs = Math.max(...[...before, atMs].map((ms) => this.#clock.shownMs(ms)));
    return new Date(reachedMs - dayStartMinutes * 60_000).toISOString().slice(0, 10);
  }
}

function someYears(): readonly number[] {
  return fc.sample(fc.shuffledSubarray(YEARS, { minLength: YEARS_EACH, maxLength: YEARS_EACH }), 1).flat();
}

const dayStarts = fc.oneof(fc.constantFrom(0, 30, 60, 90, 105, 120, 150, 180), fc.nat(24 * 60 - 1));

function timeOfDay(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

function neighbour(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

void test('… L-42 in every zone, 1972–2100, business dates are total, monotonic and without gaps (L-35)', (t) => {
  let instants = 0;
  let skippedDates = 0;
  for (const timeZone of ZONES) {
    for (const year of someYears()) {
      const zoneYear = new ZoneYear(timeZone, year);
      fc.assert(
        fc.property(zoneYear.instants(), dayStarts, (atMs, minutes) => {
          instants++;
          const options = { timeZone, dayStart: timeOfDay(minutes) };
          const dateAt = (ms: number): string => businessDateAt(new Date(ms), options);
          const date = dateAt(atMs);
          assert.equal(date, zoneYear.dateAt(atMs, minutes), `${timeZone} at ${atMs}`);

          const start = startOfBusinessDate(date, options);
          assert.ok(start !== undefined && start.getTime() <= atMs, `${timeZone}: ${date} has begun`);
          assert.equal(dateAt(start.getTime()), date);

          // Between two dates there are only dates without a start.
          let previous = neighbour(date, -1);
          while (startOfBusinessDate(previous, options) === undefined) {
            skippedDates++;
            previous = neighbour(previous, -1);
          }
          assert.equal(dateAt(start.getTime() - 1), previous, `${timeZone}: before ${date}`);
        }),
        { numRuns: INSTANTS_EACH },
      );
    }
  }
  t.diagnostic(`${instants} instants, ${skippedDates} of them after a skipped date`);
});
