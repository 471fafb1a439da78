// What the programs share that write with librocksdb for comparison: they end at the first error, and draw by a seed.

#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

[[noreturn]] inline void Die(const std::string& what) {
  std::cerr << what << "\n";
  std::exit(1);
}

inline void Check(const rocksdb::Status& status, const char* what = "librocksdb") {
  if (!status.ok()) Die(std::string(what) + ": " + status.ToString());
}

struct Random32 {
  uint64_t state;
  uint32_t Next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 33);
  }
  uint32_t Below(uint32_t n) { return Next() % n; }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
};
