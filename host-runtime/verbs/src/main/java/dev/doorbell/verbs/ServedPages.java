package dev.doorbell.verbs;

import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Pages of this process that a software HCA of another process reads and writes in place. The
 * preload library of {@code host-runtime/uverbs-shim} replaces the pages of a queue by shared ones
 * when the queue is created. A driver that has pinned the pages before would keep using the old
 * ones, so they are replaced before they are pinned.
 */
public final class ServedPages {
  private static final FunctionDescriptor RANGE =
      FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
  private static final Failure SHARE =
      Failure.of(
          "share pages with the process that emulates the device",
          "see whether memory is left, and whether 'ulimit -v' is in the way");
  private static final Failure UNSHARE =
      Failure.of("make shared pages private again", "this is a fault in Doorbell");

  private final NativeFunction share;
  private final NativeFunction unshare;

  private ServedPages(MemorySegment share, MemorySegment unshare) {
    this.share = new NativeFunction("doorbell_hca_share", share, RANGE);
    this.unshare = new NativeFunction("doorbell_hca_unshare", unshare, RANGE);
  }

  /** Finds the functions of the preload library; null if it is not preloaded. */
  public static @Nullable ServedPages find() {
    MemorySegment share = loaded("doorbell_hca_share");
    MemorySegment unshare = loaded("doorbell_hca_unshare");
    return share.address() == 0 || unshare.address() == 0 ? null : new ServedPages(share, unshare);
  }

  /** Searches as the dynamic linker does, preloaded libraries first. */
  private static MemorySegment loaded(String name) {
    NativeFunction dlsym =
        new NativeFunction(
            "dlsym",
            Linker.nativeLinker().defaultLookup().findOrThrow("dlsym"),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      return dlsym.call(MemorySegment.NULL, arena.allocateFrom(name)).pointer();
    }
  }

  /**
   * Replaces whole pages by shared ones with the same contents, until {@link #unshare}. No thread
   * may write to them during the call.
   *
   * @throws dev.doorbell.core.hca.HcaException if there is no memory for them
   */
  public void share(long address, long bytes) {
    share.require(SHARE, MemorySegment.ofAddress(address), bytes);
  }

  /**
   * Makes pages of {@link #share} private again, with the same contents. No queue may lie in them.
   *
   * @throws dev.doorbell.core.hca.HcaException if they were not shared
   */
  public void unshare(long address, long bytes) {
    unshare.require(UNSHARE, MemorySegment.ofAddress(address), bytes);
  }
}
