import { testCodeOn } from '../support/page-tests';

testCodeOn('docs/query-builders.md', 'test/docs/query-builders');
