package dev.doorbell.experiments.workbench.calibration.run;

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
  /** How often an operation stands in the loop of a price kernel. */
  static final int UNROLLED = 16;

  /** Bytes between two places that a price kernel stores to: never the same line. */
  static final int STRIDE = 256;

  /** Bytes that price kernels use behind their target. */
  static final int TARGET_BYTES = UNROLLED * STRIDE;

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
  static final Price WIDE_LOAD =
      new Price("load_wide", "ld.relaxed.sys.global.v2.u64 {%p, %v}, [%p];", false);
  static final Price STORE = new Price("store", "st.global.u64 [%p+$k], %v;", true);
  static final Price ATOMIC =
      new Price("atomic_gpu", "atom.relaxed.gpu.global.exch.b64 %v, [%p], %v;", true);
  static final Price ATOMIC_SYSTEM =
      new Price("atomic_sys", "atom.relaxed.sys.global.exch.b64 %v, [%p], %v;", true);

  /** Changes nothing, and loads where the next one goes, as a load does. */
  static final Price ATOMIC_WALK =
      new Price("atomic_walk", "atom.relaxed.sys.global.cas.b64 %p, [%p], %v, %v;", false);

  static final Price FENCE = new Price("fence_gpu", "fence.acq_rel.gpu;", false);
  static final Price FENCE_SYSTEM = new Price("fence_sys", "fence.acq_rel.sys;", false);
  static final Price STORE_FENCE =
      new Price("store_fence_gpu", "st.global.u64 [%p+$k], %v;\n\tfence.acq_rel.gpu;", false);
  static final Price STORE_FENCE_SYSTEM =
      new Price("store_fence_sys", "st.global.u64 [%p+$k], %v;\n\tfence.acq_rel.sys;", false);
  static final Price FENCE_SC = new Price("fence_sc_sys", "fence.sc.sys;", false);
  static final Price STORE_FENCE_SC =
      new Price("store_fence_sc_sys", "st.global.u64 [%p+$k], %v;\n\tfence.sc.sys;", false);

  static final List<Price> PRICES =
      List.of(
          EMPTY,
          WEAK_LOAD,
          STRONG_LOAD,
          WIDE_LOAD,
          STORE,
          ATOMIC,
          ATOMIC_SYSTEM,
          ATOMIC_WALK,
          FENCE,
          FENCE_SYSTEM,
          STORE_FENCE,
          STORE_FENCE_SYSTEM,
          FENCE_SC,
          STORE_FENCE_SC);

  /** Widths of the accesses of bandwidth kernels, in bytes. */
  static final List<Integer> WIDTHS = List.of(4, 8, 16);

  /** The bandwidth whose round tells what an instruction of a loop takes. */
  static final String ROUND_OF = "stores.device.1x32.4";

  /** Instructions of a round of a bandwidth kernel that stores, but for the store. */
  static final int ROUND_INSTRUCTIONS = 5;

  static final String HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n";

  static final String CLOCKS = "clocks";
  static final String ECHO = "echo";
  static final String NOTHING = "nothing";
  static final String TOGETHER = "together";

  private PriceKernels() {}

  /** The kernel that stores, or loads, {@code bytes} at a time. */
  static String bandwidth(boolean stores, int width) {
    return (stores ? "stores_" : "loads_") + width;
  }

  /** The module. */
  static String ptx() {
    List<String> parts = new ArrayList<>();
    parts.add(HEAD);
    PRICES.forEach(price -> parts.add(price(price)));
    parts.add(clocks());
    parts.add(echo());
    parts.add(".visible .entry %s()\n{\n\tret;\n}\n".formatted(NOTHING));
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
    return """
    // (where, samples as u64, rounds, samples)
    .visible .entry %s(.param .u64 a0, .param .u64 a1, .param .u32 a2, .param .u32 a3)
    {
    	.reg .pred %%q;
    	.reg .b32 %%r<5>;
    	.reg .b64 %%d<5>;
    	.reg .b64 %%p, %%v;
    	ld.param.u64 %%p, [a0];
    	ld.param.u64 %%d1, [a1];
    	ld.param.u32 %%r1, [a2];
    	ld.param.u32 %%r2, [a3];
    	mov.u64 %%v, %%p;
    sample:
    	mov.u32 %%r3, %%r1;
    	mov.u64 %%d2, %%clock64;
    round:
    %s	sub.u32 %%r3, %%r3, 1;
    	setp.ne.u32 %%q, %%r3, 0;
    	@%%q bra round;
    	// The clock is not read before the last load is there: it is never 0.
    	setp.eq.u64 %%q, %%p, 0;
    	@%%q ret;
    	mov.u64 %%d3, %%clock64;
    %s	sub.u64 %%d3, %%d3, %%d2;
    	st.global.u64 [%%d1], %%d3;
    	add.u64 %%d1, %%d1, 8;
    	sub.u32 %%r2, %%r2, 1;
    	setp.ne.u32 %%q, %%r2, 0;
    	@%%q bra sample;
    	// What was loaded is used, or it need not have been.
    	st.global.u64 [%%d1], %%p;
    	st.global.u64 [%%d1+8], %%v;
    	ret;
    }
    """
        .formatted(price.name(), body, price.drained() ? "\tfence.acq_rel.sys;\n" : "");
  }

  /** How many cycles and how many nanoseconds pass together. */
  private static String clocks() {
    return """
    // (cycles and nanoseconds as two u64, nanoseconds to wait)
    .visible .entry %s(.param .u64 a0, .param .u64 a1)
    {
    	.reg .pred %%q;
    	.reg .b64 %%d<9>;
    	ld.param.u64 %%d1, [a0];
    	ld.param.u64 %%d2, [a1];
    	mov.u64 %%d4, %%globaltimer;
    start:
    	mov.u64 %%d3, %%clock64;
    	mov.u64 %%d5, %%globaltimer;
    	setp.eq.u64 %%q, %%d5, %%d4;
    	@%%q bra start;
    	mov.u64 %%d4, %%d5;
    wait:
    	mov.u64 %%d6, %%clock64;
    	mov.u64 %%d7, %%globaltimer;
    	sub.u64 %%d8, %%d7, %%d4;
    	setp.lt.u64 %%q, %%d8, %%d2;
    	@%%q bra wait;
    	sub.u64 %%d6, %%d6, %%d3;
    	st.global.u64 [%%d1], %%d6;
    	st.global.u64 [%%d1+8], %%d8;
    	ret;
    }
    """
        .formatted(CLOCKS);
  }

  /** Raises a flag and waits until the CPU has raised its own. */
  private static String echo() {
    return """
    // (flag of the GPU, flag of the CPU, samples as u64, samples, cycles to wait for one)
    .visible .entry %s(.param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u32 a3,
    	.param .u64 a4)
    {
    	.reg .pred %%q;
    	.reg .b32 %%r<2>;
    	.reg .b64 %%d<10>;
    	ld.param.u64 %%d1, [a0];
    	ld.param.u64 %%d2, [a1];
    	ld.param.u64 %%d3, [a2];
    	ld.param.u32 %%r1, [a3];
    	ld.param.u64 %%d4, [a4];
    	mov.u64 %%d5, 0;
    next:
    	add.u64 %%d5, %%d5, 1;
    	mov.u64 %%d6, %%clock64;
    	st.relaxed.sys.global.u64 [%%d1], %%d5;
    poll:
    	ld.relaxed.sys.global.u64 %%d7, [%%d2];
    	setp.eq.u64 %%q, %%d7, %%d5;
    	@%%q bra seen;
    	mov.u64 %%d8, %%clock64;
    	sub.u64 %%d8, %%d8, %%d6;
    	setp.lt.u64 %%q, %%d8, %%d4;
    	@%%q bra poll;
    	ret;
    seen:
    	// Not before: a clock is read while the load is still under way.
    	mov.u64 %%d8, %%clock64;
    	sub.u64 %%d8, %%d8, %%d6;
    	st.global.u64 [%%d3], %%d8;
    	add.u64 %%d3, %%d3, 8;
    	sub.u32 %%r1, %%r1, 1;
    	setp.ne.u32 %%q, %%r1, 0;
    	@%%q bra next;
    	ret;
    }
    """
        .formatted(ECHO);
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
    return HEAD
        + """
        // (where, cycles until all were issued and until all were there as two u64 a sample,
        // samples, 0)
        .visible .entry %s(.param .u64 a0, .param .u64 a1, .param .u32 a2, .param .u32 a3)
        {
        	.reg .pred %%q;
        	.reg .b32 %%r<3>;
        	.reg .b32 %%x<%d>;
        	.reg .b64 %%d<5>;
        	.reg .b64 %%p;
        	ld.param.u64 %%p, [a0];
        	ld.param.u64 %%d1, [a1];
        	ld.param.u32 %%r1, [a2];
        	ld.param.u32 %%r2, [a3];
        sample:
        	mov.u64 %%d2, %%clock64;
        %s	mov.u64 %%d3, %%clock64;
        %s	// Never so: but the clock is not read before all values are there.
        	and.b32 %%x0, %%x0, %%r2;
        	setp.ne.u32 %%q, %%x0, 0;
        	@%%q ret;
        	mov.u64 %%d4, %%clock64;
        	sub.u64 %%d3, %%d3, %%d2;
        	sub.u64 %%d4, %%d4, %%d2;
        	st.global.u64 [%%d1], %%d3;
        	st.global.u64 [%%d1+8], %%d4;
        	add.u64 %%d1, %%d1, 16;
        	sub.u32 %%r1, %%r1, 1;
        	setp.ne.u32 %%q, %%r1, 0;
        	@%%q bra sample;
        	ret;
        }
        """
            .formatted(TOGETHER, loads, issue, use);
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
    return """
    // (where, bytes, begin and end of each block in ns as two u64)
    .visible .entry %s(.param .u64 a0, .param .u64 a1, .param .u64 a2)
    {
    	.reg .pred %%q;
    	.reg .b32 %%r<5>;
    	.reg .b32 %%w<5>;
    	.reg .b32 %%x<5>;
    	.reg .b64 %%y<2>;
    	.reg .b64 %%d<12>;
    	ld.param.u64 %%d1, [a0];
    	ld.param.u64 %%d2, [a1];
    	ld.param.u64 %%d3, [a2];
    	mov.u32 %%r1, %%ctaid.x;
    	mov.u32 %%r2, %%ntid.x;
    	mov.u32 %%r3, %%tid.x;
    	mov.u32 %%r4, %%nctaid.x;
    	mad.lo.u32 %%w1, %%r1, %%r2, %%r3;
    	mov.u32 %%w2, %%w1;
    	mov.u32 %%w3, %%w1;
    	mov.u32 %%w4, %%w1;
    	mul.wide.u32 %%d5, %%w1, %2$d;
    	mul.lo.u32 %%x2, %%r2, %%r4;
    	mul.wide.u32 %%d6, %%x2, %2$d;
    	mul.wide.u32 %%d7, %%r1, 16;
    	add.u64 %%d7, %%d3, %%d7;
    	mov.u64 %%d4, %%globaltimer;
    	mov.u64 %%d9, %%d5;
    next:
    	setp.ge.u64 %%q, %%d9, %%d2;
    	@%%q bra done;
    	add.u64 %%d8, %%d1, %%d9;
    %3$s	add.u64 %%d9, %%d9, %%d6;
    	bra next;
    done:
    %4$s	bar.sync 0;
    	mov.u64 %%d10, %%globaltimer;
    	// Never so; but what was loaded is looked at.
    	setp.eq.u32 %%q, %%w1, 0xdeadbeef;
    	@%%q st.global.u32 [%%d1], %%w1;
    	setp.ne.u32 %%q, %%r3, 0;
    	@%%q ret;
    	st.global.u64 [%%d7], %%d4;
    	st.global.u64 [%%d7+8], %%d10;
    	ret;
    }
    """
        .formatted(name, width, access, end);
  }
}
