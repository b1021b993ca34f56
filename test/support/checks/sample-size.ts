/** How much a test tries: a little at each `npm test`, everything in `npm run test:full`. */
export function sampleSize<Size = number>(sizes: { readonly fast: Size; readonly full: Size }): Size {
  return process.env.CRONLATCH_FULL === '1' ? sizes.full : sizes.fast;
}
