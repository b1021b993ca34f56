/** For servers that refuse to run as root, if the tests run as root. */
import { chown } from 'node:fs/promises';

import { run } from './process/run.mjs';

/** The command before one that must not run as root: nothing, unless this process is root. */
export async function asUnprivileged() {
  const user = await otherUser();
  if (!user) return [];
  return [
    'setpriv',
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    // Files that root has created may be in folders that other users cannot enter, under /root for example.
    // Without the first capability access(), which programs use to look for their own parts, would ignore the
    // other two.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
}

/** Servers want to own their data. @param {string} folder */
export async function giveToUnprivileged(folder) {
  const user = await otherUser();
  if (user) await chown(folder, user.uid, user.gid);
}

async function otherUser() {
  if (process.getuid?.() !== 0) return undefined;
  return (await idsOf('postgres').catch(() => undefined)) ?? (await idsOf('nobody'));
}

/** @param {string} user */
async function idsOf(user) {
  const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
  return { uid: Number(uid), gid: Number(gid) };
}
