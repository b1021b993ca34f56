const STATEMENTS = 14;

/** What a run of close-day printed that failed, and what it printed when it was run again. */
export function closeDayLog(startedAt: number, againAt: number) {
  const error = 'statement-07.xml ends after 412 of 980 bookings: the file of the bank is incomplete';
  const line = (at: number, text: string): string => `${new Date(at).toISOString()} ${text}`;
  const file = (index: number): string => `statement-${String(index + 1).padStart(2, '0')}.xml`;
  const read = (index: number): string => `read ${file(index)}: ${310 + ((index * 137) % 700)} bookings`;
  const first = Array.from({ length: 6 }, (_, index) => line(startedAt + 900 + index * 11_400, read(index)));
  const second = Array.from({ length: STATEMENTS }, (_, index) =>
    line(againAt + 60 + index * 90, index < 6 ? `skip ${file(index)}: read already` : read(index)),
  );
  return {
    error,
    first: [
      line(startedAt, `close-day: ${STATEMENTS} statements to read`),
      ...first,
      line(startedAt + 70_900, `error: ${error}`),
      line(startedAt + 70_950, 'nothing was booked: the transaction was rolled back'),
    ],
    second: [
      line(againAt, `close-day: ${STATEMENTS} statements to read`),
      ...second,
      line(againAt + 1500, 'matched 8,213 of 8,240 bookings, 27 to clear by hand'),
      line(againAt + 1700, 'balance 184,220.17 EUR, as the bank reports it'),
      line(againAt + 2250, 'day closed'),
    ],
  };
}
