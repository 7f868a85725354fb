# A database with a rollback journal, with a write-ahead log, and two that are attached.
# needs sqlite3: package sqlite3
# vague: *.db*
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    sqlite3 one.db 'create table t(a); insert into t values (1), (2); select sum(a) from t'
    sqlite3 one.db 'pragma journal_mode=wal; insert into t select a + 2 from t; select * from t'
    sqlite3 two.db "attach 'one.db' as one; create table u as select * from one.t; select count(*) from u"
    sqlite3 two.db '.backup copy.db' && sqlite3 copy.db 'pragma integrity_check; vacuum'
    sqlite3 two.db .dump | sqlite3 three.db && sqlite3 three.db 'select max(a) from u'
    sqlite3 /none/such.db 'select 1 from t' 2>&1 || echo $?
}

outside()
{
    sqlite3 "$OUT/new.db" 'create table t(a)'
}
