import { Argument, Option, type Command } from 'commander';
import { systemClock } from '../../core';
import { withinLimit } from '../../core/clock';
import { JobCatalog } from '../../operations/job-catalog';
import { quoted } from '../../ledger/operator/remedy';
import { UsageError } from '../failure';
import { openGuard } from '../guard-command';
import { print } from '../terminal';

/** A word that can follow a command, or the name of the program, where `after` is empty. */
type Word = readonly [after: string, word: string, description: string];

const NAMES = 'cronlatch completion --names 2>/dev/null';

/** Each shell completes a file if no word begins with what was typed. `ofJobs`: commands whose first operand is a job. */
const SCRIPTS = {
  bash: (words: readonly Word[], ofJobs: readonly string[]) => `_cronlatch() {
  local -a found
  local after=\${COMP_WORDS[1]}
  (( COMP_CWORD == 1 )) && after=
${words.map(([after, word]) => `  [[ $after == '${after}' ]] && found+=(${word})`).join('\n')}
  [[ $COMP_CWORD == 2 && ' ${ofJobs.join(' ')} ' == *" $after "* ]] && found+=($(${NAMES} | grep -v '[:=]'))
  COMPREPLY=($(compgen -W "\${found[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cronlatch cronlatch`,

  zsh: (words: readonly Word[], ofJobs: readonly string[]) => `_cronlatch() {
  local -a found
  local after=$words[2]
  (( CURRENT == 2 )) && after=
${words.map(([after, ...word]) => `  [[ $after == '${after}' ]] && found+=(${quoted(word.join(':'))})`).join('\n')}
  local missing=1
  [[ $CURRENT == 3 && ' ${ofJobs.join(' ')} ' == *" $after "* ]] && compadd -- \${(f)"$(${NAMES})"} && missing=0
  _describe word found && missing=0
  (( missing )) && _files
}
compdef _cronlatch cronlatch`,

  fish: (words: readonly Word[], ofJobs: readonly string[]) =>
    [
      ...words.map(fishLine),
      `complete -c cronlatch -n '__fish_seen_subcommand_from ${ofJobs.join(' ')}; and test (count (commandline -opc)) -eq 2' -a '(${NAMES})'`,
    ].join('\n'),
};

function fishLine([after, word, description]: Word): string {
  const when = after === '' ? '__fish_use_subcommand -f' : `'__fish_seen_subcommand_from ${after}'`;
  return `complete -c cronlatch -n ${when} -a ${word} -d ${quoted(description)}`;
}

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script with which your shell completes commands, options and names of jobs')
    .addArgument(new Argument('[shell]').choices(Object.keys(SCRIPTS)))
    .addOption(new Option('--names', 'print the names of jobs').hideHelp())
    .action(async (shell: keyof typeof SCRIPTS | undefined, { names }: { readonly names?: boolean }) => {
      if (names) return await printNames();
      if (shell === undefined)
        throw new UsageError(
          `Name your shell: ${Object.keys(SCRIPTS).join(', ')}, as in cronlatch completion bash`,
        );
      const ofJobs = program.commands
        .filter(({ registeredArguments: [first] }) => first?.name() === 'job')
        .map((command) => command.name());
      print(SCRIPTS[shell](wordsOf(program), ofJobs));
    });
}

const NAMES_WITHIN_MS = 1000;

/** Those that no shell reads as anything else. The Tab key calls it, so a failure prints nothing. */
async function printNames(): Promise<void> {
  const names = await withinLimit(
    systemClock,
    namesOfJobs().catch(() => []),
    NAMES_WITHIN_MS,
  );
  if (names !== 'time-out' && names.length > 0) print(names.join('\n'));
}

async function namesOfJobs(): Promise<readonly string[]> {
  const guard = await openGuard({});
  try {
    const { register } = await JobCatalog.of(guard);
    return (register?.jobs ?? []).map(({ job }) => job).filter((job) => quoted(job) === job);
  } finally {
    await guard.close();
  }
}

function wordsOf(program: Command): Word[] {
  const help = program.createHelp();
  return help.visibleCommands(program).flatMap((command) => {
    const words = help.visibleOptions(command).flatMap((option): Word[] => {
      const { short = '', long = '', argChoices = [], description } = option;
      return [short, long, ...argChoices].filter(Boolean).map((word) => [command.name(), word, description]);
    });
    return [['', command.name(), command.description()], ...words];
  });
}
