import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterProblem } from '#cronlatch/storage/sql/row-lock/row-lock-table';

function problemOf(variables: Readonly<Record<string, string>>): string | undefined {
  return clusterProblem(
    Object.entries(variables).map(([name, value]) => ({ Variable_name: name, Value: value })),
  );
}

void test('Galera and several primaries are refused, and servers with one primary are not', () => {
  const group = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';
  assert.match(problemOf({ wsrep_on: 'ON' }) ?? '', /Galera/);
  assert.match(
    problemOf({ group_replication_group_name: group, group_replication_single_primary_mode: 'OFF' }) ?? '',
    /several primaries/,
  );
  const fine = [
    {},
    { wsrep_on: 'OFF' },
    { group_replication_group_name: group, group_replication_single_primary_mode: 'ON' },
    // The plugin is loaded, but the server is in no group.
    { group_replication_group_name: '', group_replication_single_primary_mode: 'OFF' },
  ];
  for (const variables of fine) assert.equal(problemOf(variables), undefined);
});
