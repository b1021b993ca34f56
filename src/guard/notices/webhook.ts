import { createHmac } from 'node:crypto';
import { InvalidLockConfigurationError } from '../../core';
import { checkOptionNames } from '../../core/options';

/** Something that an operator should know. */
export interface Notice {
  /** Made from what the notice reports, so a repeat has the same. Drop repeats by it. */
  readonly id: string;
  /**
   * `failed`: a run failed permanently. `interrupted`: the lease of a run ended, and `onCrash` is `'hold'`. `late`: no
   * instance has answered a tick. `missed`: an expected period has ended without a run. `pause-ended`: the pause of an
   * operator has ended at its time.
   */
  readonly kind: 'failed' | 'interrupted' | 'late' | 'missed' | 'pause-ended';
  /** The name of the job, or of the lock if no job with it is known. */
  readonly job: string;
  /** In sentences, with the command to type. `TEXT` stands for your reason. */
  readonly text: string;
  /** The arguments of that `cronlatch` command. */
  readonly command: readonly string[];
  /** When an instance noticed it, in ISO 8601. */
  readonly at: string;
}

/**
 * Sends a notice, for example as a mail. If it rejects, or takes longer than 10 s, the notice is sent again later.
 *
 * @param signal aborts after 10 s, and when the guard closes
 */
export type Notify = (notice: Notice, signal: AbortSignal) => unknown;

/** In bytes. A shorter secret can be guessed. */
const LEAST_SECRET = 16;

/**
 * Sends each notice as the JSON body of a POST request, with the headers and the signature of Standard Webhooks. Only a
 * status from 200 to 299 counts as received. Redirects are not followed.
 *
 * @param options.url with http or https. No error, event or log line shows it
 * @param options.secret signs the requests: at least 16 bytes. After the prefix `whsec_`, it is read as base64
 * @throws InvalidLockConfigurationError for an invalid address, and for a short secret
 */
export function webhook(options: { readonly url: string | URL; readonly secret: string }): Notify {
  checkOptionNames(options, ['url', 'secret'], 'webhook');
  const { url, secret } = options;
  const address = URL.canParse(String(url)) ? new URL(url) : undefined;
  const isHttp = /^https?:$/.test(address?.protocol ?? '') && !address?.username && !address?.password;
  if (address === undefined || !isHttp || typeof secret !== 'string' || secret.trim() === '')
    throw new InvalidLockConfigurationError(
      'webhook needs a url with http or https, without a user name and a password, and a secret. This message shows neither.',
    );
  const [, encoded] = /^whsec_(.*)/.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  if (key.length < LEAST_SECRET)
    throw new InvalidLockConfigurationError(
      `The secret of webhook has ${key.length} bytes. Use ${LEAST_SECRET} or more: after whsec_, as base64.`,
    );
  return async (notice, signal) => {
    const body = JSON.stringify(notice);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', key).update(`${notice.id}.${timestamp}.${body}`).digest('base64');
    const headers = {
      'content-type': 'application/json',
      'webhook-id': notice.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    const request = { method: 'POST', redirect: 'manual', headers, body, signal } as const;
    // The messages and causes of its errors can contain the address.
    const response = await fetch(address, request).catch(({ cause }: { cause?: { code?: string } }) => {
      throw new Error(`The webhook cannot be reached (${cause?.code ?? 'no code'}).`);
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The webhook answered ${response.status}.`);
  };
}
