import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { before } from 'node:test';
import { verifySchema as verifyMysql } from 'cronlatch/mysql2';
import { verifySchema as verifyPostgres } from 'cronlatch/pg';
import { Project } from '../../package/project';
import { pack } from '../../package/tarball';
import { codeBlocksOf } from '../../support/checks/page';
import { testWith } from '../../support/databases/fresh';

/** The second block of commands, without their comments. */
const COMMANDS = (codeBlocksOf('README.md').filter(({ language }) => language === 'sh')[1]?.text ?? '')
  .trim()
  .split('\n')
  .map((line) => line.replace(/ +#.*$/, ''));

let tarball: string;
before(async () => {
  tarball = (await pack()).file;
});

/** The packages of a command such as `npm install a && npm install -D b`. */
function packagesOf(command: string): string[] {
  assert.match(command, /^npm install .+ && npm install -D /);
  return command.split(/ && | /).filter((word) => !['npm', 'install', '-D'].includes(word));
}

for (const database of ['mysql', 'mariadb', 'postgres'] as const)
  testWith(database, 'the commands for TypeORM compile, migrate and start the job', async ({ options }) => {
    const { url } = options as { url: string };
    const [install = '', compile = '', address, migrate = '', start = '', ...more] = COMMANDS;
    assert.deepEqual(more, []);
    using project = new Project();
    await project.install(tarball);
    const [library, ...packages] = packagesOf(install);
    assert.equal(library, 'cronlatch');
    const driver = database === 'postgres' ? 'pg' : 'mysql2';
    for (const name of packages) project.link(name === 'mysql2' ? driver : name);

    const configuration = readFileSync('test/readme/ormconfig.ts', 'utf8');
    assert.ok(configuration.includes(`type: 'mysql'`));
    project.write('ormconfig.ts', configuration.replace(`type: 'mysql'`, `type: '${database}'`));
    const billing = readFileSync('test/readme/billing.ts', 'utf8');
    assert.ok(billing.includes(`'0 3 * * *'`));
    project.write('billing.ts', billing.replace(`'0 3 * * *'`, `'* * * * * *'`)); // The test does not wait until 03:00.

    assert.equal(address, 'export DATABASE_URL=mysql://user:password@host/database');
    const env = { ...process.env, DATABASE_URL: url, npm_config_offline: 'true' };
    for (const line of [compile, migrate]) {
      const command = spawn(line, {
        cwd: project.folder,
        env,
        shell: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output: string[] = [];
      for (const stream of [command.stdout, command.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
      assert.deepEqual(await once(command, 'close'), [0, null], output.join(''));
    }
    assert.deepEqual(await (database === 'postgres' ? verifyPostgres : verifyMysql)(url), []);

    assert.equal(start, 'node dist/billing.js');
    const application = spawn(process.execPath, ['dist/billing.js'], {
      cwd: project.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const ended = once(application, 'exit');
      const reader = createInterface(application.stdout)[Symbol.asyncIterator]();
      const started = await reader.next();
      assert.match(String(started.value), /^cronlatch \S+ guards 1 job on \w+ \(.+\): close-day in /);
      const completed = await reader.next();
      assert.match(String(completed.value), /^cronlatch \S+ run:completed: job 'close-day' completed in /);
      application.kill('SIGTERM');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
    } finally {
      application.kill('SIGKILL');
    }
  });
