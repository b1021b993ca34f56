import { InvalidLockConfigurationError, InvalidLockUseError } from '../core';
import { actOf, performed, planOf } from '../operations/acts';
import { Desk, type Confirmation, type Field, type Verb } from '../operations/acts/act';
import type { Html } from './parts';
import { html } from './vendor';
import type { SentForm, View } from './view';

interface FormOptions {
  /** What the act is about, and other values that the operator does not choose. */
  readonly hidden: Readonly<Record<string, string | undefined>>;
  /** What fields have at first. */
  readonly values?: Readonly<Record<string, string | undefined>>;
  /** The fields that do not apply. */
  readonly without?: readonly string[];
}

const REASON: Field = { name: 'reason', kind: 'text', description: '', label: 'Reason', required: true };

/** The form of an act, with a reason. Only for those who may operate. */
export function actForm(
  view: View,
  verb: Verb,
  { hidden, values: first = {}, without = [] }: FormOptions,
): Html {
  if (view.access.level !== 'operate') return '';
  const { label, effect, fields: all } = actOf(verb);
  const sent = view.sent?.values['act'] === verb ? view.sent : undefined;
  const { confirmation, error, values = {} } = sent ?? {};
  const fields = all.filter(
    ({ name, label: shown }) => shown && !without.includes(name) && !(name in hidden),
  );
  return html`<form method="post" action="#${verb}" id="${verb}" class="${sent ? 'act sent' : 'act'}">
    <p>${effect}</p>
    ${error === undefined ? '' : html`<p class="error" role="alert">${error}</p>`}
    ${Object.entries({ ...hidden, act: verb, token: view.token }).map(([name, value]) => hiddenField(name, value))}
    ${[...fields, REASON].map((field) => fieldOf(verb, field, values[field.name] ?? first[field.name]))}
    ${confirmation === undefined ? '' : confirmationOf(confirmation)}
    <button type="submit">${confirmation === undefined ? label : `${label}: confirm`}</button>
  </form>`;
}

function hiddenField(name: string, value: string | undefined): Html {
  return value === undefined ? '' : html`<input type="hidden" name="${name}" value="${value}" />`;
}

function confirmationOf({ text, items = [], value }: Confirmation): Html {
  return html`<div class="confirm" role="alert">
    <p>${text}</p>
    ${
      items.length === 0
        ? ''
        : html`<ul>
            ${items.map((item) => html`<li>${item}</li>`)}
          </ul>`
    }
    <label
      ><input type="checkbox" name="confirmed" value="${value}" required /> Yes, I have checked this.</label
    >
  </div>`;
}

function fieldOf(act: string, { name, kind, label, choices, required, hint }: Field, value = ''): Html {
  const id = `${act}-${name}`;
  const [type, must] = [kind === 'date' ? kind : 'text', required ? 'required' : ''];
  const control = choices
    ? html`<select id="${id}" name="${name}">
        ${choices.map((choice) => html`<option ${choice === value ? 'selected' : ''}>${choice}</option>`)}
      </select>`
    : html`<input id="${id}" name="${name}" type="${type}" value="${value}" ${must} autocomplete="off" />`;
  return html`<p class="field">
    <label for="${id}">${label}</label> ${control}${hint ? html` <small>${hint}</small>` : ''}
  </p>`;
}

/**
 * Does what a form asks for.
 *
 * @returns the form, if it must come back; without one, the act is done
 * @throws LockStorageError if the database fails
 */
export async function perform(
  { guard, access: { actor = '' }, when }: View,
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
