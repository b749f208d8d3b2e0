package dev.doorbell.ptxvm;

import java.util.SplittableRandom;

/**
 * A valid kernel made up from a seed whose lanes go different ways and meet on the way: nested
 * branches, loops as long as each lane's data says, lanes that end early, warp operations under the
 * mask of those who are there, locks that lanes of a warp take from each other, polling for another
 * lane's store, calls. Every mask is computed by a vote, so that it is right; the result does not
 * depend on how threads are interleaved.
 *
 * <p>Parameters and sizes are those of {@link RandomProgram}.
 */
final class DivergentProgram {
  private static final int WORDS = 8;
  private static final int COMMON = 4;
  private static final int MOST_LABELS = 40;

  private final SplittableRandom random;
  private final StringBuilder text = new StringBuilder();
  private int labels;
  private int flags;
  private int budget;

  /** True if threads may end early; then their block has no barriers. */
  private final boolean exits;

  private DivergentProgram(long seed) {
    random = new SplittableRandom(seed);
    exits = random.nextInt(3) == 0;
  }

  /** The text of the program of {@code seed}, entry {@code random}. */
  static String of(long seed) {
    DivergentProgram program = new DivergentProgram(seed);
    program.function();
    program.kernel();
    return program.text.toString();
  }

  @SuppressWarnings("AnnotateFormatMethod") // formats are literals of this class
  private void line(String format, Object... arguments) {
    text.append("  ").append(format.formatted(arguments)).append('\n');
  }

  private void label(int label, String name) {
    text.append("%s%d:\n".formatted(name, label));
  }

  private int pick(int bound) {
    return random.nextInt(bound);
  }

  private String pick(String... choices) {
    return choices[pick(choices.length)];
  }

  private String word() {
    return "%r" + pick(WORDS);
  }

  /** Values that all threads of a block have in common. */
  private String common() {
    return "%u" + pick(COMMON);
  }

  private void registers() {
    line(".reg .b32 %%r<%d>; .reg .b32 %%u<%d>;", WORDS, COMMON);
    line(".reg .b32 %%n<%d>; .reg .b32 %%m<%d>;", MOST_LABELS + 1, MOST_LABELS + 1);
    line(".reg .b64 %%own, %%out, %%cells, %%flags; .reg .b32 %%me, %%x, %%y, %%z, %%lane;");
    line(".reg .pred %%p<4>; .reg .pred %%q, %%t; .reg .b64 %%wide;");
  }

  private void function() {
    text.append(".func (.param .b32 result) mix(.param .b32 a)\n{\n");
    registers();
    line("ld.param.u32 %%r0, [a];");
    line("and.b32 %%x, %%r0, 3;");
    label(0, "F");
    line("mad.lo.u32 %%r0, %%r0, 5, 7;");
    line("setp.eq.u32 %%q, %%x, 0;");
    line("sub.u32 %%x, %%x, 1;");
    line("@!%%q bra F0;");
    line("st.param.b32 [result], %%r0;");
    line("ret;");
    text.append("}\n");
  }

  private void kernel() {
    text.append(
        """
        .visible .entry random(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
        {
        """);
    line(".shared .align 16 .b8 board[512];");
    registers();
    line("mov.u32 %%me, %%tid.x; mov.u32 %%lane, %%laneid;");
    line("mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x;");
    line("mad.lo.u32 %%z, %%x, %%y, %%me;");
    line("ld.param.u64 %%own, [p0]; ld.param.u64 %%out, [p1];");
    line("ld.param.u64 %%cells, [p2]; ld.param.u64 %%flags, [p3];");
    line("mad.wide.u32 %%own, %%z, %d, %%own;", RandomProgram.OWN_BYTES);
    line("mad.wide.u32 %%out, %%z, %d, %%out;", RandomProgram.OUT_BYTES);
    line("mad.wide.u32 %%flags, %%x, %d, %%flags;", 4 * RandomProgram.FLAGS);
    for (int i = 0; i < WORDS; i++) {
      line("mad.lo.u32 %%r%d, %%z, %d, %d;", i, 2 * i + 3, pick(1000));
    }
    for (int i = 0; i < COMMON; i++) {
      line("mad.lo.u32 %%u%d, %%x, %d, %d;", i, pick(9), pick(1000));
    }
    for (int i = 0; i < 4; i++) {
      line("setp.gt.u32 %%p%d, %%r%d, %d;", i, i, pick(2000));
    }
    for (int i = 0; i <= MOST_LABELS; i++) {
      line("mov.u32 %%n%d, 0; mov.u32 %%m%d, 0;", i, i);
    }
    line("mov.u32 %%m%d, 0xffffffff;", MOST_LABELS);
    for (int i = 0; i < 3 + pick(3); i++) {
      together(2);
    }
    finish();
    text.append("}\n");
  }

  private void finish() {
    int at = 0;
    for (int i = 0; i < WORDS; i++, at += 4) {
      line("st.global.u32 [%%out+%d], %%r%d;", at, i);
    }
    for (int i = 0; i < COMMON; i++, at += 4) {
      line("st.global.u32 [%%out+%d], %%u%d;", at, i);
    }
    for (int i = 0; i < 4; i++, at += 4) {
      line("selp.u32 %%x, 1, 0, %%p%d;", i);
      line("st.global.u32 [%%out+%d], %%x;", at);
    }
    line("ret;");
  }

  /** Code that the whole warp comes to. */
  private void together(int depth) {
    switch (pick(6)) {
      case 0 -> line(exits ? "bar.warp.sync 0xffffffff;" : "bar.sync 0;");
      case 1 -> board();
      case 2 -> {
        if (depth > 0 && labels < MOST_LABELS) {
          int label = labels++;
          line("and.b32 %%n%d, %s, 7;", label, common());
          label(label, "T");
          together(depth - 1);
          together(depth - 1);
          line("setp.eq.u32 %%q, %%n%d, 0;", label);
          line("sub.u32 %%n%d, %%n%d, 1;", label, label);
          line("@!%%q bra T%d;", label);
        }
      }
      default -> {
        budget = 10 + pick(20);
        statements(3, MOST_LABELS);
      }
    }
  }

  /** Neighbours exchange words through shared memory. */
  private void board() {
    line("mov.u32 %%x, board; mad.lo.u32 %%x, %%me, 4, %%x;");
    line("bar.warp.sync 0xffffffff;");
    line("st.shared.u32 [%%x], %s;", word());
    line("bar.warp.sync 0xffffffff;");
    line("xor.b32 %%x, %%x, %d;", 4 << pick(4));
    line("ld.shared.u32 %s, [%%x];", word());
    line("bar.warp.sync 0xffffffff;");
  }

  /** Code of the lanes whose mask is in {@code %m(mask)}. */
  private void statements(int depth, int mask) {
    while (budget > 0) {
      budget--;
      switch (pick(depth > 0 ? 18 : 12)) {
        case 0, 1, 2 -> arithmetic();
        case 3 -> shared();
        case 4, 5, 6 -> meet(mask);
        case 7 -> memory();
        case 8 -> line("@%s%%p%d add.u32 %s, %s, %d;", pick("", "!"), pick(4), word(), word(), 9);
        case 9 ->
            line("setp.%s.u32 %%p%d, %s, %s;", pick("lt", "ge", "eq"), pick(4), word(), word());
        case 10 -> call();
        case 11 -> compareCommon();
        case 12, 13 -> either(depth, mask);
        case 14 -> rounds(depth, mask);
        case 15 -> leaveEarly(mask);
        case 16 -> lock();
        default -> await();
      }
    }
  }

  private void arithmetic() {
    line(
        "%s %s, %s, %s;",
        pick("add.u32", "mul.lo.u32", "xor.b32", "min.s32", "sub.u32", "mul.hi.u32"),
        word(),
        word(),
        pick(3) == 0 ? common() : word());
    if (pick(3) == 0) {
      line("shf.l.wrap.b32 %s, %s, %s, %d;", word(), word(), word(), pick(32));
    }
    if (pick(4) == 0) {
      line("prmt.b32 %s, %s, %s, %d;", word(), word(), word(), pick(0x7777));
    }
  }

  /** What depends only on what all have in common, as long as all come here. */
  private void shared() {
    line("mad.lo.u32 %%x, %s, %d, %s;", common(), 3 + pick(5), common());
    line("add.u32 %s, %s, %%x;", word(), word());
  }

  private void compareCommon() {
    int label = labels;
    if (label == MOST_LABELS) {
      return;
    }
    labels++;
    line("setp.gt.u32 %%q, %s, %d;", common(), pick(1500));
    line("@%%q bra C%d;", label);
    arithmetic();
    label(label, "C");
  }

  private void meet(int mask) {
    switch (pick(9)) {
      case 0 ->
          line(
              "shfl.sync.%s.b32 %s|%%p%d, %s, %d, 0x1f, %%m%d;",
              pick("down", "bfly"), word(), pick(4), word(), 1 + pick(15), mask);
      case 1 -> line("shfl.sync.up.b32 %s, %s, %d, 0, %%m%d;", word(), word(), 1 + pick(8), mask);
      case 2 -> {
        line("bfind.u32 %%x, %%m%d;", mask);
        line("shfl.sync.idx.b32 %s, %s, %%x, 0x1f, %%m%d;", word(), word(), mask);
      }
      case 3 ->
          line(
              "shfl.sync.idx.b32 %s, %s, %s, %s, %%m%d;",
              word(), word(), word(), pick("0x1f", "0x181f"), mask);
      case 4 -> line("vote.sync.ballot.b32 %s, %%p%d, %%m%d;", word(), pick(4), mask);
      case 5 ->
          line(
              "vote.sync.%s.pred %%p%d, %s%%p%d, %%m%d;",
              pick("any", "all", "uni"), pick(4), pick("", "!"), pick(4), mask);
      case 6 -> {
        line("and.b32 %%x, %s, 3;", word());
        line("match.any.sync.b32 %s, %%x, %%m%d;", word(), mask);
      }
      case 7 -> line("match.all.sync.b32 %s|%%p%d, %s, %%m%d;", word(), pick(4), word(), mask);
      default -> line("bar.warp.sync %%m%d;", mask);
    }
  }

  private void memory() {
    int at = 4 * pick(RandomProgram.OWN_BYTES / 4);
    switch (pick(4)) {
      case 0 -> line("st.global.u32 [%%own+%d], %s;", at, word());
      case 1 -> line("ld.global.u32 %s, [%%own+%d];", word(), at);
      case 2 -> line("st.v2.u32 [%%own+%d], {%s, %s};", at & -8, word(), word());
      default ->
          line(
              "red.relaxed.gpu.global.add.u32 [%%cells+%d], %s;",
              8 * pick(RandomProgram.CELLS), word());
    }
  }

  private void call() {
    line("{ .param .b32 a0; .param .b32 r0;");
    line("st.param.b32 [a0], %s;", word());
    line("call (r0), mix, (a0);");
    line("ld.param.b32 %s, [r0]; }", word());
  }

  private void either(int depth, int mask) {
    if (labels + 1 >= MOST_LABELS) {
      return;
    }
    int yes = labels++;
    int no = labels++;
    int p = pick(4);
    line("setp.%s.u32 %%p%d, %s, %s;", pick("lt", "gt", "ne"), p, word(), word());
    line("vote.sync.ballot.b32 %%m%d, %%p%d, %%m%d;", yes, p, mask);
    line("not.b32 %%m%d, %%m%d; and.b32 %%m%d, %%m%d, %%m%d;", no, yes, no, no, mask);
    line("@!%%p%d bra E%d;", p, yes);
    some(depth, yes);
    line("bra J%d;", yes);
    label(yes, "E");
    if (pick(2) == 0) {
      some(depth, no);
    }
    label(yes, "J");
    if (pick(2) == 0) {
      line("bar.warp.sync %%m%d;", mask);
    }
  }

  private void some(int depth, int mask) {
    int rest = budget;
    budget = Math.min(budget, 2 + pick(6));
    int used = budget;
    statements(depth - 1, mask);
    budget = rest - used;
  }

  /** Loops as many rounds as the lane's data says; each vote tells who is still there. */
  private void rounds(int depth, int mask) {
    if (labels + 1 >= MOST_LABELS) {
      return;
    }
    int here = labels++;
    boolean votes = pick(3) > 0;
    line("and.b32 %%n%d, %s, %d;", here, pick(4) == 0 ? common() : word(), 7);
    line("mov.u32 %%m%d, %%m%d;", here, mask);
    label(here, "R");
    line("setp.ne.u32 %%q, %%n%d, 0;", here);
    if (votes) {
      line("vote.sync.ballot.b32 %%m%d, %%q, %%m%d;", here, here);
    }
    line("@!%%q bra X%d;", here);
    if (votes) {
      some(depth, here);
    } else {
      arithmetic();
      memory();
    }
    line("sub.u32 %%n%d, %%n%d, 1;", here, here);
    if (pick(3) == 0) {
      line("setp.eq.u32 %%q, %%n%d, 2;", here);
      if (votes) {
        line("vote.sync.ballot.b32 %%x, %%q, %%m%d;", here);
        line("not.b32 %%x, %%x; and.b32 %%m%d, %%m%d, %%x;", here, here);
      }
      line("@%%q bra X%d;", here);
    }
    line("bra R%d;", here);
    label(here, "X");
  }

  /** A few lanes end here; masks may go on naming them. */
  private void leaveEarly(int mask) {
    if (!exits || labels == MOST_LABELS || pick(2) == 0) {
      return;
    }
    int label = labels++;
    line("and.b32 %%x, %s, 31; setp.ne.u32 %%q, %%x, %d;", word(), pick(32));
    line("@%%q bra Q%d;", label);
    finish();
    label(label, "Q");
    if (pick(2) == 0) {
      line("bar.warp.sync %%m%d;", mask);
    }
  }

  /** A lock that the threads of a block take one after the other. */
  private void lock() {
    if (flags == RandomProgram.FLAGS || labels == MOST_LABELS) {
      return;
    }
    int flag = 4 * flags++;
    int label = labels++;
    label(label, "K");
    line("atom.acquire.gpu.global.cas.b32 %%x, [%%flags+%d], 0, 1;", flag);
    line("setp.ne.u32 %%q, %%x, 0;");
    line("@%%q bra K%d;", label);
    line("ld.relaxed.gpu.global.u32 %%x, [%%flags+%d];", flag);
    line("add.u32 %%x, %%x, 5; red.relaxed.gpu.global.add.u32 [%%cells], %%x;");
    line("st.release.gpu.global.u32 [%%flags+%d], 0;", flag);
  }

  /** Whoever comes here sets the flag of its own and looks for it. */
  private void await() {
    if (flags + 1 >= RandomProgram.FLAGS || labels == MOST_LABELS) {
      return;
    }
    int flag = 4 * flags++;
    int label = labels++;
    line("st.release.gpu.global.u32 [%%flags+%d], 1;", flag);
    label(label, "W");
    line("ld.acquire.gpu.global.u32 %%x, [%%flags+%d];", flag);
    line("setp.eq.u32 %%q, %%x, 0;");
    line("@%%q bra W%d;", label);
  }
}
