package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of CREATE_MKEY. The context (MKC) begins at byte 0x10. Names that end in {@code _OFFSET}
 * are places of 8-byte fields.
 */
public final class MemoryKeyContext {
  private static final int MKC = 0x10;

  // Rights; local reads are always allowed.
  public static final PrmField ATOMIC = bit(MKC, 14);
  public static final PrmField REMOTE_WRITE = bit(MKC, 13);
  public static final PrmField REMOTE_READ = bit(MKC, 12);
  public static final PrmField LOCAL_WRITE = bit(MKC, 11);

  /** What the key translates to: pages, or other keys ({@link #INDIRECT}, {@link #FIXED}). */
  public static final PrmField ACCESS_MODE = bits(MKC, 9, 8);

  /** Value of ACCESS_MODE: a list of other keys, which UMR work requests write. */
  public static final int INDIRECT = 2;

  /** Value of ACCESS_MODE: likewise, in pieces of one size (KSM); the command has the list. */
  public static final int FIXED = 3;

  /** The lowest 8 bits of the key. */
  public static final PrmField MKEY_7_0 = bits(MKC + 0x4, 7, 0);

  public static final PrmField PD = bits(MKC + 0xc, 23, 0);

  /** The address by which work requests name the first byte. */
  public static final int START_ADDR_OFFSET = MKC + 0x10;

  public static final int LEN_OFFSET = MKC + 0x18;

  /** log2 of the bytes of a page, or of a piece where the key is FIXED. */
  public static final PrmField LOG_ENTITY_SIZE = bits(MKC + 0x38, 4, 0);

  // Behind the context.
  /** Entries of the list that follows, in units of 16 bytes: its length where the key is FIXED. */
  public static final PrmField TRANSLATIONS = word(0x60);

  public static final PrmField MKEY_UMEM_ID = word(0x64);
  public static final int MKEY_UMEM_OFFSET_OFFSET = 0x68;

  /** The list's first entry, and bytes of one: byte count, key and address. */
  public static final int ENTRIES_OFFSET = 0x110;

  public static final int ENTRY_BYTES = 16;
  public static final int ENTRY_ADDRESS_OFFSET = 8;

  private MemoryKeyContext() {}
}
