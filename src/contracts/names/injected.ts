/** What breaks a name out of a statement, a pattern, a template, a path or a protocol, where it is not bound. */
const ESCAPES = [
  `' OR '1'='1 ¦ ' OR 1=1 -- x ¦ '; DROP TABLE shedlock; -- ¦ ' UNION SELECT 1,2,3,4,5 -- x ¦ ' AND SLEEP(9) #`,
  `'||(SELECT 1)||' ¦ " OR ""=" ¦ \` OR 1=1 -- x ¦ ') OR ('1'='1 ¦ \\' OR 1=1 -- x ¦ '; UPDATE shedlock SET name='`,
  `' ¦ '' ¦ " ¦ "" ¦ \` ¦ \\ ¦ \\\\ ¦ \\' ¦ ; ¦ -- ¦ -- x ¦ # ¦ /* ¦ */ ¦ /**/ ¦ /*!50000 OR 1=1 */ ¦ 0x6a6f62 ¦ CHAR(106)`,
  `% ¦ %% ¦ _ ¦ __ ¦ [a-z] ¦ * ¦ ? ¦ ?? ¦ :name ¦ :owner ¦ @owner ¦ $1 ¦ $$ ¦ $tag$ ¦ NULL ¦ DEFAULT`,
  `{"$gt":""} ¦ {"$where":"sleep(9)"} ¦ ';return true;var a=' ¦ [$ne]=x ¦ *)(uid=* ¦ (&(uid=*)) ¦ ' or name()='x`,
  `return redis.call('FLUSHALL') ¦ KEYS[1] ¦ FLUSHALL ¦ *1$8FLUSHALL ¦ ]]-- ¦ {job} ¦ {}`,
  `$(reboot) ¦ \`reboot\` ¦ | cat /etc/passwd ¦ && true ¦ > /dev/null ¦ ../../etc/passwd ¦ ..\\..\\boot.ini ¦ file:///etc ¦ ~`,
  `%s%s%n ¦ %d ¦ %1$s ¦ {0} ¦ \${7*7} ¦ {{7*7}} ¦ #{7*7} ¦ <%= 7*7 %> ¦ \${jndi:ldap://x} ¦ =1+1 ¦ @SUM(1)`,
  `<script>alert(1)</script> ¦ ]]> ¦ <!-- ¦ &quot; ¦ &#39; ¦ %00 ¦ %27 ¦ %2527 ¦ \\u0027 ¦ \\x27 ¦ \\0 ¦ \\n`,
  `’ OR ’1’=’1 ¦ ＇ OR 1=1 ¦ ʼ OR 1=1 ¦ ‘ ¦ “ ¦ « ¦ ′ ¦ ％ ¦ ； ¦ ＂`,
  `__proto__ ¦ constructor ¦ toString ¦ hasOwnProperty ¦ prototype ¦ undefined ¦ null ¦ true ¦ NaN ¦ 0 ¦ -1 ¦ 1e9`,
].flatMap((line) => line.split(' ¦ '));

/** More than 300 names that a store must treat like any other. */
export const INJECTED_NAMES = [
  ...new Set(ESCAPES.flatMap((escape) => [escape, `job${escape}`, `${escape}job`])),
];
