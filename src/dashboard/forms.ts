import { InvalidLockConfigurationError, InvalidLockUseError } from '../core';
import { actOf, performed, planOf } from '../operations/acts';
import { Desk, type Confirmation, type Field, type Values, type Verb } from '../operations/acts/act';
import { commandText, type Remedy } from '../ledger/operator/remedy';
import { linkTo, type Html } from './parts';
import { html } from './vendor';
import type { SentForm, View } from './view';

interface ActOptions {
  /** What the act is about, and other values that the operator does not choose. */
  readonly hidden: Values;
  /** The fields that do not apply. */
  readonly without?: readonly string[];
  /** If a page has several forms of one act. Default: its verb */
  readonly id?: string;
  readonly label?: string;
  /** `first`: what most operators will choose. `danger`: what can do harm. Default for an act that can: `danger` */
  readonly look?: 'first' | 'danger' | undefined;
}

const REASON: Field = { name: 'reason', kind: 'text', description: '', label: 'Reason', required: true };

/** The button of an act, which opens its form: what follows, its fields and a reason. Only for those who may operate. */
export function actButton(view: View, verb: Verb, options: ActOptions): Html {
  if (view.access.level !== 'operate') return '';
  const { effect, fields: all, isDestructive, ...act } = actOf(verb);
  const { hidden, without = [], id = verb, label = act.label, look = isDestructive && 'danger' } = options;
  const { job, scope, period, lock } = hidden;
  const isSent = Object.entries({ act: verb, id, job, scope, period, lock }).every(
    ([name, value]) => value === undefined || view.sent?.values[name] === value,
  );
  const sent = isSent ? view.sent : undefined;
  const { confirmation, error, values = {} } = sent ?? {};
  const absent = [...without, ...Object.keys(hidden)];
  const fields = all.filter(({ name, label: shown }) => shown && !absent.includes(name));
  const hiddenFields = Object.entries({ ...hidden, act: verb, id, token: view.token }).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<details class="act" id="act-${id}" ${sent ? 'open' : ''}>
    <summary class="${look}">${label}…</summary>
    <form method="post" action="#${id}" id="${id}" class="${sent ? 'sent' : ''}">
      <h2>${label}</h2>
      <p>${effect}</p>
      ${error === undefined ? '' : html`<p class="error" role="alert">${error}</p>`} ${hiddenFields}
      ${[...fields, REASON].map((field) => fieldOf(id, field, values[field.name]))}
      ${confirmation === undefined ? '' : confirmationOf(confirmation)}
      <p class="btns">
        <button class="${look === 'danger' ? 'danger' : 'first'}">
          ${confirmation ? `${label}: confirm` : label}
        </button>
        <button class="cancel" formmethod="dialog" formnovalidate>Cancel</button>
      </p>
      <p class="mute">
        As a command: <code class="command">npx ${commandText(remedyOf(verb, hidden, fields))}</code>
      </p>
    </form>
  </details>`;
}

function remedyOf(verb: Verb, { job = '', scope, period, lock, ...others }: Values, shown: Field[]): Remedy {
  const { operands, fields } = actOf(verb);
  // A lock is an operand only of acts that do not take a job.
  const given = operands.includes('lock') ? others : { ...others, lock };
  const values: Record<string, string | true> = {};
  for (const [name, value] of Object.entries(given)) {
    const isFlag = fields.some((field) => field.name === name && field.kind === 'flag');
    if (value) values[name] = isFlag || value;
  }
  for (const { name, value = name, required } of shown) if (required) values[name] = value.toUpperCase();
  const subject = lock ? { lock } : { job, ...(scope && { scope }), ...(period && { period }) };
  return { verb, subject: subject as Remedy['subject'], values };
}

/** Of a form that a page can have for several jobs. The same as long as it is about the same. */
export function formId(...names: readonly (string | undefined)[]): string {
  return names.flatMap((name) => (name ? encodeURIComponent(name) : [])).join('/');
}

/** What fixes a problem, as a button. */
export function remedyButton(view: View, { verb, subject, values }: Remedy, of = ''): Html {
  if (verb === 'why') return html`<a class="button" href="${linkTo(subject)}">Why…</a>`;
  const { fields, isDestructive } = actOf(verb);
  const chosen = fields.flatMap(({ name, choices }) => (choices ? name : []));
  const kept = Object.entries({ ...values, force: values['force'] && 'yes' });
  const hidden = { ...Object.fromEntries(kept.filter(([name]) => !chosen.includes(name))), ...subject };
  const isRange = values['from'] !== undefined;
  const id = formId(verb, of, ...Object.values(subject));
  const without = isRange ? ['scope', 'period'] : ['from', 'to'];
  const look = isDestructive ? 'danger' : 'first';
  return actButton(view, verb, { hidden, id, without, look, ...(isRange && { label: 'Run missed' }) });
}

function confirmationOf({ text, items = [], value }: Confirmation): Html {
  const list = html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
  return html`<div class="confirm" role="alert">
    <p>${text}</p>
    ${items.length > 0 ? list : ''}
    <label
      ><input type="checkbox" name="confirmed" value="${value}" required /> Yes, I have checked this.</label
    >
  </div>`;
}

function fieldOf(act: string, { name, kind, label, choices, required, hint }: Field, value = ''): Html {
  const id = `${act}-${name}`;
  const isDate = kind === 'date';
  const [type, must] = [isDate ? kind : 'text', isDate || required ? 'required' : ''];
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
    const filled: Record<string, string> = { ...given };
    // A form sends a field that was left empty, too. A range without dates would be a run now.
    for (const { name, kind, label, required } of act.fields)
      if (filled[name] === '' && label && !required && kind !== 'date') delete filled[name];
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
