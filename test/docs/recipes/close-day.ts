export const closed: string[] = [];

export function closeDay(): void {
  closed.push(new Date().toISOString());
}
