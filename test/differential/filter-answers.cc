// Asks librocksdb's filter readers, for comparison with ours.
//
//   filter-answers <keys> <out> <filter>...
//
// keys: each a 32-bit little-endian length and so many bytes. Each filter is a file with a filter block's contents.
// out: per key its Hash64 (8 bytes, little-endian) and BloomHash (4); then per filter one byte a key, 0 or 1.
//
// The reader of a filter's bits is no public class: what is declared here is the shape of it in 7.8.3.
// Build: g++ -std=c++17 -O1 filter-answers.cc -lrocksdb

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace rocksdb {
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual bool MayMatch(const Slice& entry) = 0;
};
extern uint64_t Hash64(const char* data, size_t n);
extern uint32_t Hash(const char* data, size_t n, uint32_t seed);
}  // namespace rocksdb

using namespace rocksdb;

namespace {

constexpr uint32_t kBloomHashSeed = 0xbc9f1d34;

std::string ReadAll(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "filter-answers <keys> <out> <filter>...\n");
    return 1;
  }
  const std::string bytes = ReadAll(argv[1]);
  std::vector<Slice> keys;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    uint32_t length;
    memcpy(&length, bytes.data() + at, 4);
    keys.emplace_back(bytes.data() + at + 4, length);
    at += 4 + length;
  }
  std::ofstream out(argv[2], std::ios::binary);
  for (const Slice& key : keys) {
    const uint64_t hash64 = Hash64(key.data(), key.size());
    const uint32_t hash32 = Hash(key.data(), key.size(), kBloomHashSeed);
    out.write(reinterpret_cast<const char*>(&hash64), 8);
    out.write(reinterpret_cast<const char*>(&hash32), 4);
  }
  const std::unique_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(10));
  for (int i = 3; i < argc; i++) {
    const std::string contents = ReadAll(argv[i]);
    const std::unique_ptr<FilterBitsReader> reader(
        policy->GetFilterBitsReader(contents));
    std::string answers;
    for (const Slice& key : keys) answers += reader->MayMatch(key) ? '\1' : '\0';
    out << answers;
  }
  return 0;
}
