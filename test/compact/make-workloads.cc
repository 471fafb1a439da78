// Random workloads with snapshots, compacted by librocksdb: the other side for our compaction.
//
//   make-workloads <out dir> <first seed> <count>
//
// Each seed gets a database of its own: writes of all kinds, flushed several times into level 0, with snapshots
// taken along the way. Those still held then cut the compaction of all level 0 files into level 1: at the bottom
// (nothing lies below), or above a file of level 3 that spans all keys. Old files are not deleted.
// A line of JSON a seed tells what was done.
//
// Build: g++ -std=c++17 -O1 make-workloads.cc -lrocksdb

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "../support/generator.h"

using namespace rocksdb;

namespace {

// How much of what a seed does, in percent of its writes.
struct Mix {
  uint32_t keys, puts, deletes, merges, single_keys, ranges, entities, snapshots, flushes;
};

Mix ChooseMix(Random32& random) {
  Mix mix;
  mix.keys = 3 + random.Below(random.Chance(50) ? 8 : 60);
  mix.puts = 10 + random.Below(50);
  mix.deletes = random.Below(30);
  mix.merges = random.Chance(80) ? random.Below(60) : 0;
  mix.single_keys = random.Chance(80) ? random.Below(60) : 0;
  mix.ranges = random.Chance(80) ? random.Below(15) : 0;
  mix.entities = random.Chance(30) ? random.Below(20) : 0;
  mix.snapshots = random.Chance(85) ? random.Below(12) : 0;
  mix.flushes = 1 + random.Below(4);
  return mix;
}

std::string Key(uint32_t n) {
  char text[32];
  snprintf(text, sizeof(text), "key%03u", n);
  return text;
}

std::vector<std::string> LevelFiles(DB* db, int level) {
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  std::vector<std::string> names;
  for (auto& file : files) {
    if (file.level == level) names.push_back(file.db_path + file.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void PrintList(const char* name, const std::vector<std::string>& values) {
  std::cout << ",\"" << name << "\":[";
  for (size_t i = 0; i < values.size(); i++) {
    std::cout << (i > 0 ? "," : "") << '"' << values[i] << '"';
  }
  std::cout << "]";
}

void Compact(DB* db, int output_level, uint64_t file_size) {
  CompactionOptions options;
  options.compression = kNoCompression;
  options.output_file_size_limit = file_size;
  std::vector<std::string> inputs = LevelFiles(db, 0);
  Check(db->CompactFiles(options, inputs, output_level), "compact");
}

// Keys that begin with "s" get a put only where nothing is, and then a single delete: its contract.
void WriteHistory(DB* db, Random32& random, const Mix& mix, std::vector<const Snapshot*>& snapshots) {
  WriteOptions write;
  write.disableWAL = true;
  std::map<std::string, bool> single;
  const uint32_t total = 30 + random.Below(400);
  for (uint32_t i = 0; i < total; i++) {
    const uint32_t n = random.Below(mix.keys);
    const std::string key = Key(n);
    const std::string value = std::to_string(i);
    const uint32_t kinds = mix.puts + mix.deletes + mix.merges + mix.ranges + mix.entities;
    if (random.Below(100) < mix.single_keys) {
      const std::string own = "s" + key;
      bool& exists = single[own];
      if (exists) {
        Check(db->SingleDelete(write, own), "single delete");
      } else {
        Check(db->Put(write, own, "v" + value), "put");
      }
      exists = !exists;
    } else {
      uint32_t kind = random.Below(kinds);
      if (kind < mix.puts) {
        Check(db->Put(write, key, "v" + value), "put");
      } else if ((kind -= mix.puts) < mix.deletes) {
        Check(db->Delete(write, key), "delete");
      } else if ((kind -= mix.deletes) < mix.merges) {
        Check(db->Merge(write, key, "m" + value), "merge");
      } else if ((kind -= mix.merges) < mix.ranges) {
        const std::string prefix = random.Chance(25) ? "s" : "";
        const uint32_t length = 1 + random.Below(mix.keys / 2 + 1);
        const std::string start = prefix + Key(n), end = prefix + Key(n + length);
        Check(db->DeleteRange(write, db->DefaultColumnFamily(), start, end), "delete range");
        for (auto& [own, exists] : single) {
          if (own >= start && own < end) exists = false;
        }
      } else {
        const WideColumns columns{{kDefaultWideColumnName, "d" + value}, {"column", value}};
        const WideColumns unnamed{{"column", value}};
        // Keys of their own: 7.8 does not merge over an entity.
        const std::string own = "e" + key;
        if (random.Chance(25)) {
          Check(db->Delete(write, own), "delete");
        } else {
          Check(db->PutEntity(write, db->DefaultColumnFamily(), own, random.Chance(50) ? columns : unnamed),
                "put entity");
        }
      }
    }
    if (random.Chance(mix.snapshots)) snapshots.push_back(db->GetSnapshot());
    if (random.Chance(mix.flushes)) Check(db->Flush(FlushOptions()), "flush");
  }
  Check(db->Flush(FlushOptions()), "flush");
}

// A file at the bottom that spans all keys: no key is known to be nowhere below.
void WriteBottom(DB* db) {
  WriteOptions write;
  write.disableWAL = true;
  Check(db->Put(write, "a", "first"), "put");
  Check(db->Put(write, "z", "last"), "put");
  Check(db->Flush(FlushOptions()), "flush");
  Compact(db, 3, UINT64_MAX);
}

void MakeWorkload(const std::string& dir, uint32_t seed) {
  Random32 random{seed * 2654435761ull + 1};
  const Mix mix = ChooseMix(random);
  Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.allow_concurrent_memtable_write = false;
  options.level_compaction_dynamic_level_bytes = false;
  options.num_levels = 4;
  options.compression = kNoCompression;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1 << 20;
  BlockBasedTableOptions table;
  table.block_size = 256;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  Check(MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator),
        "merge operator");
  DB* db = nullptr;
  Check(DB::Open(options, dir, &db), "open");
  Check(db->DisableFileDeletions(), "keep files");
  const bool bottommost = random.Chance(50);
  if (!bottommost) WriteBottom(db);
  std::vector<const Snapshot*> taken, held;
  WriteHistory(db, random, mix, taken);
  for (auto* snapshot : taken) {
    if (random.Chance(60)) {
      held.push_back(snapshot);
    } else {
      db->ReleaseSnapshot(snapshot);
    }
  }
  const uint64_t file_size = random.Chance(30) ? 1000 + random.Below(4000) : UINT64_MAX;
  const std::vector<std::string> inputs = LevelFiles(db, 0);
  Compact(db, 1, file_size);

  std::vector<std::string> seqnos;
  for (auto* snapshot : held) seqnos.push_back(std::to_string(snapshot->GetSequenceNumber()));
  std::cout << "{\"seed\":" << seed << ",\"bottommost\":" << (bottommost ? "true" : "false");
  PrintList("snapshots", seqnos);
  PrintList("inputs", inputs);
  PrintList("outputs", LevelFiles(db, 1));
  std::cout << "}\n";
  for (auto* snapshot : held) db->ReleaseSnapshot(snapshot);
  delete db;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Die("three arguments expected");
  const std::string dir = argv[1];
  const uint32_t first = strtoul(argv[2], nullptr, 10);
  const uint32_t count = strtoul(argv[3], nullptr, 10);
  for (uint32_t seed = first; seed < first + count; seed++) {
    MakeWorkload(dir + "/" + std::to_string(seed), seed);
  }
  return 0;
}
