import { Argument, type Command } from 'commander';
import { quoted } from '../../ledger/operator/state-of-run';
import { print } from '../terminal';

/** A word that can follow a command, or the name of the program, where `after` is empty. */
type Word = readonly [after: string, word: string, description: string];

/** Each shell completes a file if no word begins with what was typed. */
const SCRIPTS = {
  bash: (words: readonly Word[]) => `_cronlatch() {
  local -a found
  local after=\${COMP_WORDS[1]}
  (( COMP_CWORD == 1 )) && after=
${words.map(([after, word]) => `  [[ $after == '${after}' ]] && found+=(${word})`).join('\n')}
  COMPREPLY=($(compgen -W "\${found[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cronlatch cronlatch`,

  zsh: (words: readonly Word[]) => `_cronlatch() {
  local -a found
  local after=$words[2]
  (( CURRENT == 2 )) && after=
${words.map(([after, ...word]) => `  [[ $after == '${after}' ]] && found+=(${quoted(word.join(':'))})`).join('\n')}
  _describe word found || _files
}
compdef _cronlatch cronlatch`,

  fish: (words: readonly Word[]) => words.map(fishLine).join('\n'),
};

function fishLine([after, word, description]: Word): string {
  const when = after === '' ? '__fish_use_subcommand -f' : `'__fish_seen_subcommand_from ${after}'`;
  return `complete -c cronlatch -n ${when} -a ${word} -d ${quoted(description)}`;
}

/** `cronlatch completion` prints a script with which a shell completes commands and options. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script with which your shell completes commands and options')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => print(SCRIPTS[shell](wordsOf(program))));
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
