package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.Resources;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels that measure, as PTX: written here, so that what is timed is what is meant, one
 * instruction after the other.
 *
 * <p>A <em>price</em> kernel is one thread that takes {@code samples} samples. Each is the cycles
 * between two readings of {@code %clock64} around {@code rounds} rounds of {@link #UNROLLED} times
 * the operation; what the operation leaves outstanding is drained outside of that.
 */
final class PriceKernels {
  /** Times that an operation stands in the loop of a price kernel. */
  static final int UNROLLED = 16;

  /** Bytes between two places that a price kernel stores to: never the same line. */
  static final int STRIDE = 256;

  /**
   * An operation.
   *
   * @param name of the kernel, and of the quantity
   * @param body one operation; {@code %p} is the target, or what the last operation loaded from
   *     there; {@code %v} a value; {@code $k} the offset of the k-th place
   * @param drained a fence follows each sample, outside of what is timed
   */
  record Price(String name, String body, boolean drained) {}

  static final Price EMPTY = new Price("empty", "", false);
  static final Price WEAK_LOAD = new Price("load_weak", "ld.global.u64 %p, [%p];", false);
  static final Price STRONG_LOAD =
      new Price("load_strong", "ld.relaxed.sys.global.u64 %p, [%p];", false);
  static final Price STORE = new Price("store", "st.global.u64 [%p+$k], %v;", true);
  static final Price ATOMIC =
      new Price("atomic_gpu", "atom.relaxed.gpu.global.exch.b64 %v, [%p], %v;", true);

  /** Changes nothing, and loads where the next one goes, as a load does. */
  static final Price ATOMIC_WALK =
      new Price("atomic_walk", "atom.relaxed.sys.global.cas.b64 %p, [%p], %v, %v;", false);

  static final Price FENCE = new Price("fence_gpu", "fence.acq_rel.gpu;", false);
  static final Price FENCE_SYSTEM = new Price("fence_sys", "fence.acq_rel.sys;", false);
  static final Price STORE_FENCE =
      new Price("store_fence_gpu", "st.global.u64 [%p+$k], %v;\n\tfence.acq_rel.gpu;", false);
  static final Price STORE_FENCE_SYSTEM =
      new Price("store_fence_sys", "st.global.u64 [%p+$k], %v;\n\tfence.acq_rel.sys;", false);
  static final List<Price> PRICES =
      List.of(
          EMPTY,
          WEAK_LOAD,
          STRONG_LOAD,
          STORE,
          ATOMIC,
          ATOMIC_WALK,
          FENCE,
          FENCE_SYSTEM,
          STORE_FENCE,
          STORE_FENCE_SYSTEM);

  static final List<Integer> WIDTHS = List.of(4, 8, 16);

  /** The bandwidth whose round tells what an instruction of a loop takes. */
  static final String ROUND_OF = "stores.device.1x32.4";

  /** Instructions of a round of a bandwidth kernel that stores, but for the store. */
  static final int ROUND_INSTRUCTIONS = 5;

  static final String HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n";

  static final String CLOCKS = "clocks";
  static final String TOGETHER = "together";

  private PriceKernels() {}

  /** Returns PTX of this package, with places for {@link String#formatted}. */
  static String template(String name) {
    return Resources.text(PriceKernels.class, name);
  }

  static String bandwidth(boolean stores, int width) {
    return (stores ? "stores_" : "loads_") + width;
  }

  static String ptx() {
    List<String> parts = new ArrayList<>();
    parts.add(HEAD);
    PRICES.forEach(price -> parts.add(price(price)));
    parts.add(clocks());
    for (int width : WIDTHS) {
      parts.add(stores(width));
      parts.add(loads(width));
    }
    return String.join("\n", parts);
  }

  private static String price(Price price) {
    StringBuilder body = new StringBuilder();
    for (int i = 0; i < UNROLLED && !price.body().isEmpty(); i++) {
      body.append('\t').append(price.body().replace("$k", Integer.toString(i * STRIDE)));
      body.append('\n');
    }
    return template("price.ptx")
        .formatted(price.name(), body, price.drained() ? "\tfence.acq_rel.sys;\n" : "");
  }

  /** Compares how many cycles and how many nanoseconds pass together. */
  private static String clocks() {
    return template("clocks.ptx").formatted(CLOCKS);
  }

  /**
   * A module of one kernel: {@code loads} that do not depend on each other, each of a line of its
   * own, and then their values used; the same lines for each sample. ISA and target are those of
   * {@link #ptx}.
   */
  static String together(int loads) {
    StringBuilder issue = new StringBuilder();
    StringBuilder use = new StringBuilder();
    for (int i = 0; i < loads; i++) {
      issue.append("\tld.relaxed.sys.global.u32 %%x%d, [%%p+%d];\n".formatted(i, i * STRIDE));
      if (i > 0) {
        use.append("\tor.b32 %%x0, %%x0, %%x%d;\n".formatted(i));
      }
    }
    return HEAD + template("together.ptx").formatted(TOGETHER, loads, issue, use);
  }

  private static String stores(int width) {
    return bandwidth(
        bandwidth(true, width),
        width,
        "\tst.global%s [%%d8], %s;\n".formatted(type(width), value(width, "%w")),
        "\tfence.acq_rel.sys;\n");
  }

  /** One load of a thread is under way at a time: its value is wanted before the next. */
  private static String loads(int width) {
    String first = width == 8 ? "cvt.u32.u64 %x1, %y1;" : "";
    return bandwidth(
        bandwidth(false, width),
        width,
        "\tld.relaxed.sys.global%s %s, [%%d8];\n\t%s\n\txor.b32 %%w1, %%w1, %%x1;\n"
            .formatted(type(width), value(width, width == 8 ? "%y" : "%x"), first),
        "");
  }

  private static String type(int width) {
    return switch (width) {
      case 4 -> ".u32";
      case 8 -> ".u64";
      default -> ".v4.u32";
    };
  }

  private static String value(int width, String name) {
    if (width == 16) {
      return "{%1$s1, %1$s2, %1$s3, %1$s4}".formatted(name);
    }
    return width == 8 && name.equals("%w") ? "%d5" : name + "1";
  }

  private static String bandwidth(String name, int width, String access, String end) {
    return template("bandwidth.ptx").formatted(name, width, access, end);
  }
}
