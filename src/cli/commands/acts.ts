import { Option, type Command } from 'commander';
import type { SkipReason } from '../../core';
import type { JobGuard } from '../../guard';
import type { StoredAct } from '../../ledger';
import { ACTS, performed, planOf } from '../../operations/acts';
import { Desk, type Act, type Field } from '../../operations/acts/act';
import { EXIT, EXIT_AFTER, flagOf } from '../failure';
import { addChangeCommand, agrees, withGuard } from '../guard-command';
import type { ChangeOptions } from '../options';
import { io, printJson, printNote, printText, whenInWhole } from '../terminal';

/** A command for each act of an operator. */
export function addActCommands(program: Command): void {
  for (const act of ACTS.values()) {
    const command = addChangeCommand(program, `${act.verb} ${act.operands}`.trim(), act.summary);
    const operands = command.registeredArguments.map((argument) => argument.name());
    for (const field of act.fields) if (!operands.includes(field.name)) command.addOption(optionOf(field));
    const body = async (guard: JobGuard, options: ChangeOptions, ...given: string[]): Promise<void> =>
      await perform(act, guard, {
        ...options,
        ...Object.fromEntries(operands.map((name, index) => [name, given[index]])),
      });
    command.action(withGuard(body, (options) => act.guardOptions?.({ ...options } as never) ?? {}));
  }
}

function optionOf({ name, value, description, choices, required = false, ...field }: Field): Option {
  const flag = flagOf(name);
  const option = new Option(value === undefined ? flag : `${flag} <${value}>`, description);
  if (choices) option.choices(choices);
  return option.default(field.default).makeOptionMandatory(required);
}

async function perform(act: Act, guard: JobGuard, values: ChangeOptions): Promise<void> {
  const { actor, reason, json } = values;
  const desk = new Desk(guard, { actor, reason }, { when: whenInWhole, note: printNote });
  const plan = await planOf(act, desk, values as never);
  if (plan.nothing === undefined) {
    const { text, items = [] } = plan.confirm ?? {};
    const lines = text === undefined ? plan.lines : [...plan.lines, `${text} ${items.join(', ')}`.trimEnd()];
    if (!(await agrees(lines, values))) return;
  }
  const { text, act: recorded, facts, ended } = await performed(desk, plan);
  if (json) printJson(act.verb, { ...facts, actor, reason, recorded: recorded !== undefined });
  else printText(text);
  if (ended) io.exitCode = exitCodeOf(ended);
}

function exitCodeOf({ state, outcome }: StoredAct): number {
  if (state === 'done') return EXIT.done;
  if (state === 'open') return EXIT.stillDue;
  return state === 'refused' ? (EXIT_AFTER[outcome as SkipReason] ?? EXIT.stillDue) : 1;
}
