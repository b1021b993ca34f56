import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, describe } from 'node:test';
import { Project } from '../../package/project';
import { pack } from '../../package/tarball';
import { codeBlocksOf, tableOf } from '../../support/checks/page';
import { testWith, type DatabaseName } from '../../support/databases/fresh';

const BLOCKS = codeBlocksOf('README.md');
const COMMANDS = (BLOCKS.find(({ language }) => language === 'sh')?.text ?? '').trim().split('\n');
const HELLO = readFileSync('test/readme/hello.mjs', 'utf8');

/** The first table: how the commands differ for each database. */
const DIFFERENCES = tableOf('README.md', 'database').map((cells) =>
  cells.map((cell) => cell.replaceAll('`', '')),
);

const ROWS: Readonly<Record<DatabaseName, string | undefined>> = {
  sqlite: undefined,
  mysql: 'MySQL, MariaDB',
  mariadb: 'MySQL, MariaDB',
  postgres: 'PostgreSQL',
};

let tarball: string;
before(async () => {
  tarball = (await pack()).file;
});

const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** One terminal: a process, and the lines that it prints. */
class Terminal {
  readonly child: ChildProcess;
  readonly lines: string[] = [];

  constructor(folder: string, env: NodeJS.ProcessEnv, onLine: (terminal: Terminal) => void) {
    this.child = spawn(process.execPath, ['hello.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.child);
    for (const stream of [this.child.stdout, this.child.stderr])
      if (stream !== null)
        createInterface(stream).on('line', (line) => {
          this.lines.push(line);
          onLine(this);
        });
  }
}

function tickOf(line: string): string | undefined {
  return /^cronlatch \S+ run:completed: job 'hello' completed in .*\(scheduled at (\S+)\)\.$/.exec(line)?.[1];
}

// They wait more than they work.
void describe('the quick start', { concurrency: 3 }, () => {
  for (const database of ['sqlite', 'mysql', 'postgres'] as const)
    testWith(
      database,
      'it logs each tick in one of two terminals, and the other takes over after a SIGKILL',
      async ({ options }) => {
        const [, driver = 'better-sqlite3', , subpath = 'cronlatch/better-sqlite3'] =
          DIFFERENCES.find(([name]) => name === ROWS[database]) ?? [];
        using project = new Project();
        await project.install(tarball);
        assert.match(COMMANDS[0] ?? '', /^npm install cronlatch node-cron better-sqlite3 #/);
        for (const name of ['node-cron', driver]) project.link(name);
        assert.equal(COMMANDS[2], 'export DATABASE_URL=sqlite:hello.db');
        const url = database === 'sqlite' ? 'sqlite:hello.db' : (options as { url: string }).url;
        const env = { ...process.env, DATABASE_URL: url };
        assert.match(COMMANDS[3] ?? '', /^npx cronlatch init /);
        const init = spawn('npx', ['cronlatch', 'init'], { cwd: project.folder, env, stdio: 'pipe' });
        init.stdout.resume();
        assert.deepEqual(await once(init, 'exit'), [0, null]);

        project.write('hello.mjs', HELLO.replace('cronlatch/better-sqlite3', subpath));
        const ticks: { at: string; by: Terminal }[] = [];
        let onTick = (): void => {};
        const onLine = (by: Terminal): void => {
          const [line = ''] = by.lines.slice(-1);
          if (by.lines.length === 1)
            return assert.match(line, /^cronlatch \S+ guards 1 job on .+: hello in /);
          const at = tickOf(line);
          if (at === undefined) return;
          assert.equal(by.lines.at(-2), `hello from ${by.child.pid}`);
          ticks.push({ at, by });
          onTick();
        };
        const until = (isReached: () => boolean): Promise<void> =>
          new Promise((resolve) => {
            onTick = () => isReached() && resolve();
            onTick();
          });
        const terminals = [1, 2].map(() => new Terminal(project.folder, env, onLine));
        await until(() => ticks.length >= 2);
        const killed = ticks.at(-1)?.by;
        killed?.child.kill('SIGKILL');
        const other = terminals.find((terminal) => terminal !== killed);
        await until(() => ticks.at(-1)?.by === other);
        const times = ticks.map(({ at }) => at);
        assert.equal(new Set(times).size, times.length, 'each tick runs once');
        other?.child.kill('SIGTERM');
        if (other !== undefined) await once(other.child, 'exit');
      },
    );
});
