import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterProblem } from '#cronlatch/storage/sql/row-lock/row-lock-statements';

void test('Galera and several primaries are refused, and servers with one primary are not', () => {
  const group = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';
  assert.match(clusterProblem({ wsrep_on: 'ON' }) ?? '', /Galera/);
  assert.match(
    clusterProblem({ group_replication_group_name: group, group_replication_single_primary_mode: 'OFF' }) ??
      '',
    /several primaries/,
  );
  const fine = [
    {},
    { wsrep_on: 'OFF' },
    { group_replication_group_name: group, group_replication_single_primary_mode: 'ON' },
    // The plugin is loaded, but the server is in no group.
    { group_replication_group_name: '', group_replication_single_primary_mode: 'OFF' },
  ];
  for (const variables of fine) assert.equal(clusterProblem(variables), undefined);
});
