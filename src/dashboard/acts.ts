import { InvalidLockConfigurationError, InvalidLockUseError } from '../core';
import type { JobGuard } from '../guard';
import { actOf, performed, planOf } from '../operations/acts';
import { Desk } from '../operations/acts/act';
import type { WhenOfJob } from '../operations/overview';
import type { SentForm } from './layout';

interface Sender {
  readonly guard: JobGuard;
  readonly actor: string;
  readonly when: WhenOfJob;
}

/**
 * Does what a form asks for.
 *
 * @returns the form, if it must come back; without one, the act is done
 * @throws LockStorageError if the database fails
 */
export async function perform(
  { guard, actor, when }: Sender,
  values: SentForm['values'],
): Promise<{ readonly sent?: SentForm; readonly isRecorded?: boolean }> {
  try {
    const { act: verb = '', reason = '', confirmed, force, token: _token, ...given } = values;
    const act = actOf(verb);
    if (act.of === 'store') throw new InvalidLockUseError('This act has no form. Use the command line.');
    const desk = new Desk(guard, { actor, reason }, { when });
    // A form sends a field that was left empty, too.
    const isEmptyField = ([name, value]: readonly [string, string]): boolean =>
      value === '' && act.fields.some((field) => field.name === name && field.label && !field.required);
    const filled = Object.fromEntries(Object.entries(given).filter((entry) => !isEmptyField(entry)));
    const plan = await planOf(act, desk, { ...filled, force: force !== undefined });
    if (plan.nothing !== undefined) return { sent: { values, error: plan.nothing } };
    const { confirm } = plan;
    if (confirm && confirmed !== confirm.value) return { sent: { values, confirmation: confirm } };
    return { isRecorded: (await performed(desk, plan)).act !== undefined };
  } catch (error) {
    if (error instanceof InvalidLockUseError || error instanceof InvalidLockConfigurationError)
      return { sent: { values, error: error.message } };
    throw error;
  }
}
