package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of CREATE_MKEY. The context (MKC) begins at byte 0x10. Names that end in {@code _OFFSET}
 * are places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class MemoryKeyContext {
  public static final PrmField ATOMIC = new PrmField(0x10, 14, 14);

  public static final PrmField REMOTE_WRITE = new PrmField(0x10, 13, 13);

  public static final PrmField REMOTE_READ = new PrmField(0x10, 12, 12);

  public static final PrmField LOCAL_WRITE = new PrmField(0x10, 11, 11);

  /** The kind of translation: pages, or other keys ({@link #INDIRECT}, {@link #FIXED}). */
  public static final PrmField ACCESS_MODE = new PrmField(0x10, 9, 8);

  /** The lowest 8 bits of the key. */
  public static final PrmField MKEY_7_0 = new PrmField(0x14, 7, 0);

  public static final PrmField PD = new PrmField(0x1c, 23, 0);

  /** The address by which work requests name the first byte. */
  public static final int START_ADDR_OFFSET = 0x20;

  public static final int LEN_OFFSET = 0x28;

  /** log2 of the bytes of a page, or of a piece where the key is FIXED. */
  public static final PrmField LOG_ENTITY_SIZE = new PrmField(0x48, 4, 0);

  /** Entries of the list that follows, in units of 16 bytes: its length where the key is FIXED. */
  public static final PrmField TRANSLATIONS = new PrmField(0x60, 31, 0);

  public static final PrmField MKEY_UMEM_ID = new PrmField(0x64, 31, 0);

  public static final int MKEY_UMEM_OFFSET_OFFSET = 0x68;

  /** Value of ACCESS_MODE: a list of other keys, which UMR work requests write. */
  public static final int INDIRECT = 2;

  /** Value of ACCESS_MODE: likewise, in pieces of one size (KSM); the command has the list. */
  public static final int FIXED = 3;

  /** The list's first entry, and bytes of one: byte count, key and address. */
  public static final int ENTRIES_OFFSET = 0x110;

  public static final int ENTRY_BYTES = 16;

  public static final int ENTRY_ADDRESS_OFFSET = 8;

  protected MemoryKeyContext() {}
}
