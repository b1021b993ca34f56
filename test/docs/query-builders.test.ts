import { testCodeOn } from '../support/checks/page-tests';

testCodeOn('docs/query-builders.md', 'test/docs/query-builders');
