package dev.doorbell.core.fabric;

/** A port whose loads are all alike but for their size, and so are its stores. */
public abstract class SizedThreadPort extends ThreadPort {
  /** Loads 1, 2, 4 or 8 bytes. */
  protected abstract long load(long address, int bytes, int access);

  /** Stores the low 1, 2, 4 or 8 bytes of {@code value}. */
  protected abstract void store(long address, int bytes, long value, int access);

  @Override
  public final long load8(long address, int access) {
    return load(address, 1, access);
  }

  @Override
  public final long load16(long address, int access) {
    return load(address, 2, access);
  }

  @Override
  public final long load32(long address, int access) {
    return load(address, 4, access);
  }

  @Override
  public final long load64(long address, int access) {
    return load(address, 8, access);
  }

  @Override
  public final void store8(long address, long value, int access) {
    store(address, 1, value, access);
  }

  @Override
  public final void store16(long address, long value, int access) {
    store(address, 2, value, access);
  }

  @Override
  public final void store32(long address, long value, int access) {
    store(address, 4, value, access);
  }

  @Override
  public final void store64(long address, long value, int access) {
    store(address, 8, value, access);
  }
}
