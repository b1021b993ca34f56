/**
 * npm run api: writes what each subpath of `package.json` exports to `api/`, one report per subpath. With `-- --check`:
 * fails if a report is out of date.
 */
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';
import { buildLibrary, install } from './set-up.mjs';

const FOLDER = 'api';
const raw = mkdtempSync(join(tmpdir(), 'cronlatch-api-'));
process.once('exit', () => rmSync(raw, { recursive: true, force: true }));

await install();
await buildLibrary();
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const subpaths = Object.entries(exports).flatMap(([key, { types }]) =>
  types === undefined ? [] : subpathOf(posix.join('cronlatch', key), types),
);
const reports = extract(subpaths);
const stale = existsSync(FOLDER) ? readdirSync(FOLDER).filter((file) => !reports.has(file)) : [];
const changed = [...reports].filter(([file, text]) => text !== committed(file)).map(([file]) => file);

if (process.argv.includes('--check')) {
  for (const file of [...changed, ...stale])
    console.error(`api: ${FOLDER}/${file} does not match the public API of the library.`);
  if (changed.length + stale.length > 0) {
    console.error(
      'api: run "npm run api", read the difference, and commit it with the change that caused it.',
    );
    process.exit(1);
  }
} else {
  for (const file of stale) rmSync(join(FOLDER, file));
  for (const file of changed) writeFileSync(join(FOLDER, file), reports.get(file));
  console.log(`api: ${reports.size} reports, ${changed.length} changed`);
}

function subpathOf(specifier, types) {
  const name = posix.basename(specifier);
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: resolve('package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: resolve(types),
      newlineKind: 'lf',
      compiler: { tsconfigFilePath: resolve('tsconfig.json') },
      apiReport: { enabled: true, reportFileName: name, reportFolder: raw, reportTempFolder: raw },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'warning' },
          'ae-missing-release-tag': { logLevel: 'none' },
          'ae-undocumented': { logLevel: 'none' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  return { specifier, file: `${name}.api.md`, config };
}

/** The text of each report, by its file. */
function extract([first, ...others]) {
  const compilerState = CompilerState.create(first.config, {
    additionalEntryPoints: others.map(({ config }) => config.mainEntryPointFilePath),
  });
  const extracted = [first, ...others].map(({ specifier, file, config }) => {
    const unexported = new Set();
    Extractor.invoke(config, {
      compilerState,
      localBuild: true,
      messageCallback(message) {
        const [, symbol] = /symbol "(\w+)" needs to be exported/.exec(message.text) ?? [];
        if (symbol !== undefined) unexported.add(symbol);
        else if (message.messageId.startsWith('ae-') && message.logLevel !== ExtractorLogLevel.None)
          console.error(`${specifier}: ${message.text}`);
        message.handled = true;
      },
    });
    // Whether something has a comment is not part of the API.
    const text = readFileSync(join(raw, file), 'utf8')
      .replace('"cronlatch"', `"${specifier}"`)
      .replaceAll(/^ *\/\/ \(undocumented\)\n/gm, '')
      .replaceAll(' (undocumented)', '');
    return { file, text, unexported };
  });
  const exported = new Set(
    extracted.flatMap(({ text }) =>
      [...text.matchAll(/^export (?:abstract )?(?:class|const|enum|function|interface|type) (\w+)/gm)].map(
        ([, name]) => name,
      ),
    ),
  );
  return new Map(
    extracted.map(({ file, text, unexported }) => {
      const nowhere = [...unexported].filter((name) => !exported.has(name)).sort();
      return [file, nowhere.length > 0 ? `${text}\nNo subpath exports ${nowhere.join(', ')}.\n` : text];
    }),
  );
}

function committed(file) {
  const path = join(FOLDER, file);
  return existsSync(path) ? readFileSync(path, 'utf8').replaceAll('\r\n', '\n') : undefined;
}
