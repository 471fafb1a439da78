/** What `sst_dump --help` prints, and what follows a wrong flag. */
export const SST_DUMP_HELP = `sst_dump <FILE or DIRECTORY>... [--command=check|scan|raw|verify|identify] [flags]

Reads table files (.sst) and prints them as RocksDB's sst_dump does. Nothing is written beside them.

  --file=PATH                    a file or a directory, as a bare word is; may be repeated
  --command=NAME                 what to do with each file
      check                        read every entry, compare their number with the properties (default)
      scan                         print every entry
      raw                          write everything into NAME_dump.txt in the current directory
      verify                       compare the checksums of all blocks, filter and index partitions included
      identify                     say which files are tables

which entries (check, scan)
  --from=KEY  --to=KEY           first user key, and the one to stop before
  --prefix=KEY                   user keys that begin so; not together with --from
  --input_key_hex                KEY is 0x and hex digits
  --comparator=NAME              the order of keys, where the one that a file names is not known
  --read_num=N                   stop after N entries over all files

what is printed
  --output_hex                   keys and values of scan as hex digits
  --decode_blob_index            scan: blob references in words
  --show_sequence_number_type    raw: sequence number and type of each entry
  --show_properties              check, scan, identify: the table properties
  --show_summary                 totals over all files
  --list_meta_blocks             meta blocks with offset and size
  --require_property_regex=RE    only files whose table properties match
  --exclude_property_regex=RE    only files whose table properties do not match
  --output_dir=DIRECTORY         where raw dumps go
  --compat=7.8|11                whose text: that of RocksDB 7.8.3 or of 11.9 (default 11)

  --parse_internal_key=0xKEY     take an internal key apart
  --help  --version

  recompress: --compression_types=kZSTD,...  --compression_level=N  --compression_level_from=N --compression_level_to=N
  --block_size=BYTES (default 16384)  --compression_max_dict_bytes=N  --compression_zstd_max_train_bytes=N
  --compression_max_dict_buffer_bytes=N  --enable_index_compression=0|1

Checksums are always compared (--verify_checksum, --readahead_size are accepted).
Exit status: 0 good, 1 damage, 2 wrong usage, 3 unreadable, 4 not supported.
`;
