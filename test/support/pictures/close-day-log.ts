/** The bookings in each file of the bank. */
const BOOKINGS = Array.from({ length: 18 }, (_, index) => 310 + ((index * 137) % 700));
const READ_AT_FIRST = 6;

/** What a run of close-day printed that failed, and what it printed and returned when it was run again. */
export function closeDayLog(startedAt: number, againAt: number) {
  const line = (at: number, text: string): string => `${new Date(at).toISOString()} ${text}\n`;
  const fileOf = (index: number): string => `statement-${String(index + 1).padStart(2, '0')}.xml`;
  const read = BOOKINGS.map((bookings, index) => `read ${fileOf(index)}: ${bookings} bookings`);
  const total = BOOKINGS.reduce((sum, bookings) => sum + bookings);
  const begin = `close-day: ${BOOKINGS.length} statements to read`;
  const message = `${fileOf(READ_AT_FIRST)} ends after 212 of ${BOOKINGS[READ_AT_FIRST]} bookings: the file is incomplete`;
  const first = [begin, ...read.slice(0, READ_AT_FIRST), `error: ${message}`, 'the day stays open'];
  const second = [
    begin,
    ...read.map((text, index) => (index < READ_AT_FIRST ? `${fileOf(index)} is stored already` : text)),
    `matched ${total - 27} of ${total} bookings, 27 to clear by hand`,
    'balance 184220.17 EUR, as the bank reports it',
    'day closed',
  ];
  return {
    message,
    bookings: total,
    first: first.map((text, index) => line(startedAt + index * 8870, text)).join(''),
    second: second.map((text, index) => line(againAt + index * 104, text)).join(''),
  };
}
