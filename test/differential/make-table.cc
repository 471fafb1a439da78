// Writes one table with librocksdb, for comparison with ours.
//
//   make-table [whole-keys-]<flush|writer|timestamps> <out.sst> <seed> <entries> <column family options>
//
// flush: a database with snapshots, so that keys have several versions and all kinds of entries, flushed once.
// whole-keys: use_delta_encoding=false.
// writer: SstFileWriter. timestamps: flush with user-defined timestamps.
// The options are a string as GetColumnFamilyOptionsFromString takes it.
//
// Build: g++ -std=c++17 -O1 make-table.cc -lrocksdb

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../support/generator.h"

using namespace rocksdb;

namespace {

// Counts entries by type, to have properties of an application in the file.
class Counter : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t) override {
    counts_[type]++;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    for (auto& [type, count] : counts_) {
      properties->insert(
          {"sstkit.count." + std::to_string(type), std::to_string(count)});
    }
    return Status::OK();
  }
  const char* Name() const override { return "sstkit.Counter"; }
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  std::map<int, int> counts_;
};

class CounterFactory : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new Counter();
  }
  const char* Name() const override { return "sstkit.Counter"; }
};

// The last operand, behind those before it.
class Join : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value,
             std::string* out, Logger*) const override {
    out->clear();
    if (existing != nullptr) out->append(existing->data(), existing->size());
    out->append(",");
    out->append(value.data(), value.size());
    return true;
  }
  const char* Name() const override { return "sstkit.Join"; }
};

std::string Key(uint32_t n, Random32& random) {
  char text[64];
  // A few prefixes of several lengths, and long keys now and then.
  snprintf(text, sizeof(text), "%c%c%02u-%06u", 'a' + n % 3, 'k',
           n / 200 % 50, n);
  std::string key = text;
  if (n % 37 == 0) key.append(150, static_cast<char>('a' + n % 26));
  if (n % 11 == 0) key.append(1, static_cast<char>(0xff));
  (void)random;
  return key;
}

std::string Value(Random32& random) {
  const char* words[] = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
  std::string value;
  uint32_t length = random.Below(8) == 0 ? random.Below(600) : random.Below(60);
  if (random.Below(300) == 0) length = 9000;
  while (value.size() < length) {
    if (random.Below(4) == 0) {
      value.push_back(static_cast<char>(random.Next()));
    } else {
      value.append(words[random.Below(6)]);
    }
  }
  value.resize(length);
  return value;
}

void Copy(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary);
  out << in.rdbuf();
  if (!in || !out) Die("cannot copy " + from);
}

std::string Timestamp(uint64_t t) {
  std::string ts(8, '\0');
  for (int i = 0; i < 8; i++) ts[i] = static_cast<char>(t >> (8 * i));
  return ts;
}

void Flush(const std::string& out, Random32 random, int entries, Options options,
           bool timestamps) {
  std::string dir = out + ".db";
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 512 << 20;
  options.allow_concurrent_memtable_write = false;
  DB* db = nullptr;
  Check(DB::Open(options, dir, &db), "open");
  WriteOptions write;
  std::vector<const Snapshot*> snapshots;
  std::string ts;
  std::set<uint32_t> once;
  for (int i = 0; i < entries; i++) {
    uint32_t n = random.Below(entries);
    std::string key = Key(n, random);
    uint32_t kind = random.Below(100);
    if (timestamps) {
      ts = Timestamp(1000 + i);
      if (kind < 85) {
        Check(db->Put(write, key, ts, Value(random)), "put");
      } else {
        Check(db->Delete(write, key, ts), "delete");
      }
    } else if (kind < 60) {
      Check(db->Put(write, key, Value(random)), "put");
    } else if (kind < 75) {
      Check(db->Merge(write, key, Value(random)), "merge");
    } else if (kind < 88) {
      Check(db->Delete(write, key), "delete");
    } else if (kind < 92) {
      // A single delete goes with one put: keys of their own.
      std::string own = "single" + key;
      if (once.insert(n).second) {
        Check(db->Put(write, own, Value(random)), "put");
        snapshots.push_back(db->GetSnapshot());
        Check(db->SingleDelete(write, own), "single delete");
      }
    } else if (kind < 96) {
      WideColumns columns{{"", "default"}, {"one", "1"}, {"two", "22"}};
      Check(db->PutEntity(write, db->DefaultColumnFamily(), key, columns),
            "put entity");
    } else if (kind < 97) {
      std::string end = Key(n + 40, random);
      if (options.comparator->Compare(key, end) > 0) std::swap(key, end);
      if (key != end) {
        Check(db->DeleteRange(write, db->DefaultColumnFamily(), key, end),
              "delete range");
      }
    }
    if (!timestamps && i % 50 == 0) snapshots.push_back(db->GetSnapshot());
  }
  Check(db->Flush(FlushOptions()), "flush");
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  if (files.size() != 1) Die("one file expected");
  Copy(files[0].db_path + "/" + files[0].name, out);
  for (auto* s : snapshots) db->ReleaseSnapshot(s);
  delete db;
}

void Write(const std::string& out, Random32 random, int entries,
           const Options& options) {
  SstFileWriter writer(EnvOptions(), options);
  Check(writer.Open(out), "open");
  std::map<std::string, int> keys;
  for (int i = 0; i < entries; i++) keys[Key(random.Below(entries * 2), random)] = i;
  int i = 0;
  std::vector<std::string> sorted;
  for (auto& [key, n] : keys) sorted.push_back(key);
  if (options.comparator != BytewiseComparator()) {
    std::reverse(sorted.begin(), sorted.end());
  }
  for (auto& key : sorted) {
    uint32_t kind = random.Below(10);
    if (kind < 7) {
      Check(writer.Put(key, Value(random)), "put");
    } else if (kind < 8) {
      Check(writer.Merge(key, Value(random)), "merge");
    } else if (kind < 9) {
      Check(writer.Delete(key), "delete");
    } else if (i % 40 == 0) {
      std::string end = key + "zzz";
      if (options.comparator == BytewiseComparator()) {
        Check(writer.DeleteRange(key, end), "delete range");
      }
    }
    i++;
  }
  Check(writer.Finish(), "finish");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) Die("five arguments expected");
  std::string mode = argv[1];
  std::string out = argv[2];
  Random32 random{strtoull(argv[3], nullptr, 10) * 2654435761ull + 1};
  int entries = atoi(argv[4]);
  ConfigOptions config;
  ColumnFamilyOptions base;
  base.merge_operator = std::make_shared<Join>();
  base.table_properties_collector_factories.push_back(
      std::make_shared<CounterFactory>());
  base.compression = kNoCompression;
  ColumnFamilyOptions cf;
  Check(GetColumnFamilyOptionsFromString(config, base, argv[5], &cf), "options");
  Options options(DBOptions(), cf);
  // This option has no text form in 7.8.
  const std::string whole_keys = "whole-keys-";
  if (mode.rfind(whole_keys, 0) == 0) {
    mode = mode.substr(whole_keys.size());
    options.table_factory->GetOptions<BlockBasedTableOptions>()->use_delta_encoding = false;
  }
  if (mode == "flush") {
    Flush(out, random, entries, options, false);
  } else if (mode == "timestamps") {
    Flush(out, random, entries, options, true);
  } else if (mode == "writer") {
    Write(out, random, entries, options);
  } else {
    Die("unknown mode " + mode);
  }
  return 0;
}
