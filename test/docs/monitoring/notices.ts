import type { Notify } from 'cronlatch/notify';

/** Posts each notice to a channel of Slack. `url` is that of an incoming webhook. */
export function toSlack(url: string): Notify {
  return async ({ text }, signal) => {
    const init = { method: 'POST', body: JSON.stringify({ text }), signal };
    const response = await fetch(url, { ...init, headers: { 'content-type': 'application/json' } });
    if (!response.ok) throw new Error(`Slack answered ${response.status}.`);
  };
}

/** The part of a transport of nodemailer that is used here. */
interface Mailer {
  sendMail(mail: { to: string; subject: string; text: string; messageId: string }): Promise<unknown>;
}

/** Sends each notice as a mail. A repeat has the same Message-ID, so most mail servers drop it. */
export function toMail(mailer: Mailer, to: string): Notify {
  return ({ id, kind, job, text }) =>
    mailer.sendMail({ to, subject: `${job}: ${kind}`, text, messageId: `<${id}@cronlatch>` });
}
