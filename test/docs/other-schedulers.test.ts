import { testCodeOn } from '../support/checks/page-tests';

const PAGE = 'docs/other-schedulers.md';
const FILES = 'test/docs/other-schedulers';
/** What the recipes import, or what starts them, and is not theirs. */
const NOT_SHOWN = ['close-the-day.ts', 'ormconfig.ts', 'start-and-stop.ts'];

testCodeOn(PAGE, FILES, NOT_SHOWN);
