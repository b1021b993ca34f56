type Opened =
  | { end(): unknown }
  | { destroy(): unknown }
  | { dispose(): unknown }
  | { stop(): unknown }
  | { close(): unknown };

/** Something that a test has opened, which ends with its scope: `await using guard = closing(…)`. */
export function closing<T extends Opened>(opened: T): T & AsyncDisposable {
  const end = async (): Promise<void> => {
    if ('end' in opened) await opened.end();
    else if ('destroy' in opened) await opened.destroy();
    else if ('dispose' in opened) await opened.dispose();
    else if ('stop' in opened) await opened.stop();
    else await opened.close();
  };
  return Object.assign(opened, { [Symbol.asyncDispose]: end });
}
