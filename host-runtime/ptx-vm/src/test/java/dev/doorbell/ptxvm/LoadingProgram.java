package dev.doorbell.ptxvm;

import java.util.SplittableRandom;

/**
 * A valid kernel made up from a seed that loads much and uses it late: runs of loads of every width
 * into registers that are read, overwritten, guarded by, passed to a function or never looked at,
 * stores to the same bytes in between, branches and loops over all of it, calls, fences. Each
 * thread has memory of its own.
 *
 * <p>Parameters and sizes are those of {@link RandomProgram}.
 */
final class LoadingProgram {
  private static final int WORDS = 20;
  private static final int WIDE = 6;
  private static final int PREDICATES = 3;

  private final SplittableRandom random;
  private final StringBuilder text = new StringBuilder();
  private int labels;

  private LoadingProgram(long seed) {
    random = new SplittableRandom(seed);
  }

  /** The text of the program of {@code seed}, entry {@code random}. */
  static String of(long seed) {
    LoadingProgram program = new LoadingProgram(seed);
    program.function();
    program.kernel();
    return program.text.toString();
  }

  @SuppressWarnings("AnnotateFormatMethod") // formats are literals of this class
  private void line(String format, Object... arguments) {
    text.append("  ").append(format.formatted(arguments)).append('\n');
  }

  private String pick(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private String word() {
    return "%r" + random.nextInt(WORDS);
  }

  private String wide() {
    return "%w" + random.nextInt(WIDE);
  }

  private String cell(int bytes) {
    return "[%own+" + bytes * random.nextInt(RandomProgram.OWN_BYTES / bytes) + "]";
  }

  private void registers() {
    line(".reg .b32 %%r<%d>; .reg .b64 %%w<%d>;", WORDS, WIDE);
    line(".reg .pred %%p<%d>; .reg .pred %%q;", PREDICATES);
    line(".reg .b64 %%own, %%out; .reg .b32 %%x, %%y, %%z, %%i;");
  }

  private void function() {
    text.append(
        ".func (.param .b32 result) mix(.param .b64 where, .param .b32 depth, .param .b32 a)\n{\n");
    registers();
    line("ld.param.u64 %%own, [where]; ld.param.u32 %%i, [depth]; ld.param.u32 %%r0, [a];");
    // What a register holds that nothing has written is not defined, and differs between engines.
    fill("%r0", 1);
    for (int i = 1; i < 6; i++) {
      load();
    }
    // It calls itself: registers that loads still fill must not be saved before they are there.
    line("setp.eq.u32 %%q, %%i, 0;");
    line("@%%q bra END;");
    line("sub.u32 %%i, %%i, 1;");
    call();
    text.append("END:\n");
    line("xor.b32 %%x, %s, %s;", word(), word());
    line("st.param.b32 [result], %%x;");
    line("ret;");
    text.append("}\n");
  }

  private void call() {
    line("{ .param .b64 w; .param .b32 d; .param .b32 a; .param .b32 o;");
    line("st.param.b64 [w], %%own; st.param.b32 [d], %%i; st.param.b32 [a], %s;", word());
    line("call (o), mix, (w, d, a);");
    line("ld.param.b32 %s, [o]; }", word());
  }

  private void kernel() {
    text.append(
        """
        .visible .entry random(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
        {
        """);
    registers();
    line("mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x; mov.u32 %%z, %%tid.x;");
    line("mad.lo.u32 %%z, %%x, %%y, %%z;");
    line("ld.param.u64 %%own, [p0]; ld.param.u64 %%out, [p1];");
    line("mad.wide.u32 %%own, %%z, %d, %%own;", RandomProgram.OWN_BYTES);
    line("mad.wide.u32 %%out, %%z, %d, %%out;", RandomProgram.OUT_BYTES);
    fill("%z", 0);
    line("mov.u32 %%i, 2;");
    for (int i = 0; i < 4; i++) {
      loop();
    }
    for (int i = 0; i < WORDS; i++) {
      line("st.global.u32 [%%out+%d], %%r%d;", 4 * i, i);
    }
    for (int i = 0; i < WIDE; i++) {
      line("st.global.u64 [%%out+%d], %%w%d;", 128 + 8 * i, i);
    }
    load(); // and the thread ends
    line("ret;");
    text.append("}\n");
  }

  /** Every register gets a value of the thread's: words from {@code first} on, all others. */
  private void fill(String from, int first) {
    for (int i = first; i < WORDS; i++) {
      line("mad.lo.u32 %%r%d, %s, %d, %d;", i, from, 2 * i + 3, random.nextInt(1000));
    }
    for (int i = 0; i < WIDE; i++) {
      line("mul.wide.u32 %%w%d, %s, %d;", i, from, random.nextInt(1000));
    }
    for (int i = 0; i < PREDICATES; i++) {
      line("setp.gt.u32 %%p%d, %%r%d, %d;", i, i, random.nextInt(2000));
    }
  }

  private void loop() {
    int label = labels++;
    line("mov.u32 %%i, %d;", 1 + random.nextInt(4));
    text.append("L%d:\n".formatted(label));
    block();
    line("setp.gt.u32 %%q, %s, %d;", word(), random.nextInt());
    line("@%%q bra S%d;", label);
    block();
    text.append("S%d:\n".formatted(label));
    block();
    line("sub.u32 %%i, %%i, 1;");
    line("setp.ne.u32 %%q, %%i, 0;");
    line("@%%q bra L%d;", label);
  }

  private void block() {
    for (int i = random.nextInt(14); i >= 0; i--) {
      load();
    }
    for (int i = random.nextInt(6); i >= 0; i--) {
      use();
    }
  }

  private void load() {
    String guard = random.nextInt(4) == 0 ? pick("@", "@!") + "%p" + random.nextInt(2) + " " : "";
    String order = pick("", "", ".relaxed.sys", ".relaxed.gpu", ".volatile", ".acquire.gpu");
    switch (random.nextInt(6)) {
      case 0 -> line("%sld%s.global.u64 %s, %s;", guard, order, wide(), cell(8));
      case 1 -> line("%sld%s.global.u8 %s, %s;", guard, order, word(), cell(1));
      case 2 -> line("%sld%s.s16 %s, %s;", guard, order, word(), cell(2));
      case 3 -> {
        int at = random.nextInt(WORDS - 4);
        String four = "{%%r%d, %%r%d, %%r%d, %%r%d}".formatted(at, at + 1, at + 2, at + 3);
        line("%sld%s.global.v4.u32 %s, %s;", guard, order, four, cell(16));
      }
      default -> line("%sld%s.global.u32 %s, %s;", guard, order, word(), cell(4));
    }
  }

  private void use() {
    switch (random.nextInt(11)) {
      case 0 -> line("st.global.u32 %s, %s;", cell(4), word());
      case 1 -> line("st.relaxed.sys.global.u64 %s, %s;", cell(8), wide());
      case 2 -> line("mov.u32 %s, %d;", word(), random.nextInt());
      case 3 -> line("cvt.u64.u32 %s, %s;", wide(), word());
      case 4 -> line("setp.lt.s32 %%p%d, %s, %s;", random.nextInt(PREDICATES), word(), word());
      case 5 -> line("%s;", pick("fence.acq_rel.gpu", "membar.cta", "fence.acq_rel.sys"));
      case 6 -> line("atom.global.add.u32 %s, %s, %s;", word(), cell(4), word());
      case 7 -> call();
      default -> line("%s %s, %s, %s;", pick("add.u32", "xor.b32"), word(), word(), word());
    }
  }
}
