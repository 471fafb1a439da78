// Makes a database whose logs are full: transactions that are prepared, committed and rolled back, merges, single
// deletions, two column families, from several threads.
//
//   make-wal <folder> <committed|prepared|unprepared> [two_queues] [unordered] [recycle] [track] [zstd]
//
// `recycle`: with a flush in between, so that there are several logs. The process ends without closing the database, so that
// prepared transactions stay in the log.
// Build: g++ -std=c++17 -O1 make-wal.cc -lrocksdb

#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../support/generator.h"

using namespace rocksdb;

namespace {

class Append : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result, Logger*) const override {
    result->assign(existing == nullptr ? "" : existing->ToString());
    result->append(value.data(), value.size());
    return true;
  }
  const char* Name() const override { return "Append"; }
};

std::string Key(int thread, int i) { return "key" + std::to_string(thread) + "/" + std::to_string(i); }

void Write(TransactionDB* db, const std::vector<ColumnFamilyHandle*>& families, int thread, bool recycle) {
  WriteOptions write;
  for (int i = 0; i < 60; i++) {
    const std::string key = Key(thread, i);
    std::unique_ptr<Transaction> txn(db->BeginTransaction(write));
    Check(txn->SetName("xid" + std::to_string(thread) + "/" + std::to_string(i)));
    Check(txn->Put(families[i % 2], key, std::string(i % 7 == 0 ? 40000 : 30, 'v')));
    Check(txn->Put(families[0], key + "a", "one"));
    // The same key again: a sub-batch of its own where those have numbers.
    Check(txn->Put(families[0], key + "a", "two"));
    Check(txn->Merge(families[0], key + "m", "x"));
    Check(txn->Delete(families[1], key + "d"));
    Check(txn->SingleDelete(families[0], key + "s"));
    txn->PutLogData("note");
    if (i % 5 != 0) Check(txn->Prepare());
    if (i % 5 == 1) continue;  // in doubt
    Check(i % 5 == 2 ? txn->Rollback() : txn->Commit());
    if (i % 3 == 0) Check(db->Put(write, families[1], key, "plain"));
    if (i == 30 && thread == 0 && recycle) Check(db->Flush(FlushOptions(), families));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Options options;
  TransactionDBOptions transactions;
  bool recycle = false;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator.reset(new Append);
  const std::string policy = argv[2];
  if (policy == "prepared") transactions.write_policy = WRITE_PREPARED;
  if (policy == "unprepared") transactions.write_policy = WRITE_UNPREPARED;
  for (int i = 3; i < argc; i++) {
    const std::string option = argv[i];
    if (option == "two_queues") options.two_write_queues = true;
    if (option == "unordered") {
      options.unordered_write = true;
      options.two_write_queues = true;
    }
    if (option == "recycle") recycle = true;
    if (option == "track") options.track_and_verify_wals_in_manifest = true;
    if (option == "zstd") options.wal_compression = kZSTD;
  }
  if (recycle) {
    options.recycle_log_file_num = 2;
    options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  }
  std::vector<ColumnFamilyDescriptor> descriptors = {{kDefaultColumnFamilyName, options}, {"other", options}};
  std::vector<ColumnFamilyHandle*> families;
  TransactionDB* db = nullptr;
  Check(TransactionDB::Open(options, transactions, argv[1], descriptors, &families, &db));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back([&, i] { Write(db, families, i, recycle); });
  for (auto& thread : threads) thread.join();
  Check(db->SyncWAL());
  // No table is left half written.
  Check(db->PauseBackgroundWork());
  std::_Exit(0);
}
