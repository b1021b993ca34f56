import { setTimeout as delay } from 'node:timers/promises';

import { messageOf } from '../errors.mjs';
import { PrivateServer } from '../private-server.mjs';
import { findPrivate } from '../steps/private.mjs';

/**
 * @typedef {import('../types.mjs').Recipe} Recipe
 * @typedef {import('../types.mjs').OwnServer} OwnServer
 *
 * @typedef {object} Ensemble servers that elect a leader among them
 * @property {string} name
 * @property {string} version
 * @property {readonly OwnServer[]} members
 * @property {readonly string[]} urls for clients: of the members, or of the sentinels
 * @property {() => Promise<OwnServer>} leader resolves when the majority agrees on one, and it answers
 * @property {() => Promise<void>} settled resolves when there is a leader, and all others follow it
 * @property {() => Promise<void>} stop ends all servers and removes their data
 */

const LONGEST_ELECTION_MS = 30_000;
/** For a question to one member, which may be paused. */
export const LONGEST_ANSWER_MS = 1000;

/**
 * Starts the servers at the same time, because some are ready only when they have found each other. If one fails, all
 * are stopped again.
 *
 * @param {Recipe[]} recipes
 * @param {(line: string) => void} log
 * @returns {Promise<OwnServer[]>}
 */
export async function startTogether(recipes, log) {
  const { program, origin } = await findPrivate(recipes[0], log);
  const outcomes = await Promise.allSettled(
    recipes.map((recipe) => PrivateServer.start(recipe, program, origin, {})),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (!failure) return started;
  await stopAll(started);
  throw failure.reason;
}

/** @param {readonly OwnServer[]} servers */
export async function stopAll(servers) {
  await Promise.all(servers.map((server) => server.stop()));
}

/**
 * Asks until there is an answer: nothing announces an election to those who are not part of it.
 *
 * @template T
 * @param {string} what
 * @param {() => Promise<T | undefined>} ask
 * @returns {Promise<T>}
 */
export async function eventually(what, ask) {
  let reason = 'there was none';
  for (const end = Date.now() + LONGEST_ELECTION_MS; Date.now() < end; await delay(20)) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      reason = messageOf(error);
    }
  }
  throw new Error(`${what} was not found in ${LONGEST_ELECTION_MS / 1000} seconds: ${reason}`);
}

/**
 * The answers of the servers that answer, with the server.
 *
 * @template T
 * @param {readonly OwnServer[]} servers
 * @param {(url: string) => Promise<T>} ask
 * @returns {Promise<{ server: OwnServer, answer: T }[]>}
 */
export async function answersOf(servers, ask) {
  const answers = await Promise.allSettled(
    servers.map(async (server) => ({ server, answer: await ask(server.url) })),
  );
  return answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
