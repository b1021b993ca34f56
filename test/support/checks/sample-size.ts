/** How much a property test tries: a little at each `npm test`, everything in `npm run test:full`. */
export function sampleSize(sizes: { readonly fast: number; readonly full: number }): number {
  return process.env.CRONLATCH_FULL === '1' ? sizes.full : sizes.fast;
}
