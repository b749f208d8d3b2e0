package dev.doorbell.ptxvm;

/**
 * A valid kernel made up from a seed: arithmetic of all widths, predication, memory in every space,
 * branches, loops, calls, barriers, warp operations, waiting. Its result does not depend on how
 * threads are interleaved: what threads share is combined by commutative atomics or exchanged
 * between barriers.
 *
 * <p>Parameters: own (bytes of each thread), out (its registers at the end), shared cells, flags.
 */
final class RandomProgram extends RandomLines {
  static final int OWN_BYTES = 256;
  static final int OUT_BYTES = 256;
  static final int CELLS = 8;
  static final int FLAGS = 64;

  private static final int FUNCTIONS = 3;
  private static final String[] COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"};
  private static final String[] WORD_ROWS = {
    "add.u32", "sub.s32", "mul.lo.u32", "mul.hi.u32", "mul.hi.s32", "and.b32", "or.b32", "xor.b32",
    "min.u32", "max.s32", "min.s32", "div.u32", "rem.s32", "shl.b32", "shr.u32", "shr.s32",
    "add.sat.s32"
  };
  private static final String[] LONG_ROWS = {
    "add.u64",
    "sub.s64",
    "mul.lo.s64",
    "mul.hi.u64",
    "and.b64",
    "or.b64",
    "xor.b64",
    "min.s64",
    "max.u64",
    "div.s64",
    "rem.u64"
  };

  private int labels;
  private int flags;
  private int budget;
  private boolean inFunction;

  private RandomProgram(long seed) {
    super(seed);
  }

  /** The text of the program of {@code seed}, entry {@code random}. */
  static String of(long seed) {
    RandomProgram program = new RandomProgram(seed);
    program.functions();
    program.kernel();
    return program.text.toString();
  }

  private void functions() {
    inFunction = true;
    for (int f = 0; f < FUNCTIONS; f++) {
      text.append(
          ".func (.param .b32 result) helper%d(.param .b32 a, .param .b64 b)%n{%n".formatted(f));
      registers();
      line("ld.param.u32 %%r0, [a];");
      line("ld.param.u64 %%rd0, [b];");
      fillRegisters("%r0", "%rd0");
      budget = 8 + pick(10);
      statements(2);
      line("xor.b32 %%r0, %%r0, %%r1;");
      line("st.param.b32 [result], %%r0;");
      line("ret;");
      text.append("}\n");
    }
    inFunction = false;
  }

  private void fillRegisters(String from, String wide) {
    for (int i = 0; i < WORDS; i++) {
      line("mad.lo.u32 %%r%d, %s, %d, %d;", i, from, 2 * i + 1, pick(1000));
    }
    for (int i = 0; i < LONGS; i++) {
      line("mad.lo.u64 %%rd%d, %s, %d, %d;", i, wide, 2 * i + 3, pick(100000));
    }
    for (int i = 0; i < SINGLES; i++) {
      line("cvt.rn.f32.s32 %%f%d, %%r%d;", i, i);
    }
    for (int i = 0; i < REALS; i++) {
      line("cvt.rn.f64.s64 %%fd%d, %%rd%d;", i, i);
    }
    for (int i = 0; i < HALVES; i++) {
      line("cvt.u16.u32 %%rs%d, %%r%d;", i, i);
    }
    for (int i = 0; i < PREDICATES; i++) {
      line("setp.gt.u32 %%p%d, %%r%d, %d;", i, i, random.nextInt(0, Integer.MAX_VALUE));
    }
  }

  private void kernel() {
    text.append(
        """
        .visible .entry random(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
        {
        """);
    line(".local .align 16 .b8 spill[64];");
    line(".shared .align 16 .b8 board[2048];");
    registers();
    line("mov.u32 %%me, %%tid.x;");
    line("mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x;");
    line("mad.lo.u32 %%z, %%x, %%y, %%me;");
    line("ld.param.u64 %%own, [p0]; ld.param.u64 %%out, [p1];");
    line("ld.param.u64 %%cells, [p2]; ld.param.u64 %%flags, [p3];");
    line("mad.wide.u32 %%own, %%z, %d, %%own;", OWN_BYTES);
    line("mad.wide.u32 %%out, %%z, %d, %%out;", OUT_BYTES);
    line("mad.wide.u32 %%flags, %%x, %d, %%flags;", 4 * FLAGS);
    line("cvt.u64.u32 %%at, %%z;");
    line("add.u32 %%z, %%z, %d;", pick(1 << 20));
    fillRegisters("%z", "%at");
    line("mov.u64 %%gen, spill; cvta.local.u64 %%gen, %%gen;");
    line("st.local.v4.u32 [spill], {%%r0, %%r1, %%r2, %%r3};");
    line("st.local.v2.u64 [spill+16], {%%rd0, %%rd1};");
    line("st.local.v4.f32 [spill+32], {%%f0, %%f1, %%f2, %%f3};");
    line("st.local.v2.u64 [spill+48], {%%rd2, %%rd3};");
    for (int i = 0; i < 4 + pick(5); i++) {
      uniform(2);
    }
    finish();
    text.append("}\n");
  }

  private void finish() {
    int at = 0;
    for (int i = 0; i < WORDS; i++, at += 4) {
      line("st.global.u32 [%%out+%d], %%r%d;", at, i);
    }
    for (int i = 0; i < SINGLES; i++, at += 4) {
      line("st.global.f32 [%%out+%d], %%f%d;", at, i);
    }
    at = (at + 7) & -8;
    for (int i = 0; i < LONGS; i++, at += 8) {
      line("st.global.u64 [%%out+%d], %%rd%d;", at, i);
    }
    for (int i = 0; i < REALS; i++, at += 8) {
      line("st.global.f64 [%%out+%d], %%fd%d;", at, i);
    }
    for (int i = 0; i < HALVES; i++, at += 2) {
      line("st.global.u16 [%%out+%d], %%rs%d;", at, i);
    }
    for (int i = 0; i < PREDICATES; i++, at++) {
      line("selp.u32 %%x, 1, 0, %%p%d;", i);
      line("st.global.u8 [%%out+%d], %%x;", at);
    }
    line("ret;");
  }

  /** Code that all threads of a block reach together. */
  private void uniform(int depth) {
    switch (pick(7)) {
      case 0 -> exchange();
      case 1 -> warp();
      case 2 -> line("bar.sync %d;", pick(2));
      case 3 -> await();
      case 4 -> {
        if (depth > 0) {
          int label = labels++;
          line("mov.u32 %%n%d, %d;", label % 40, 1 + pick(4));
          text.append("L%d:\n".formatted(label));
          uniform(depth - 1);
          uniform(depth - 1);
          line("sub.u32 %%n%d, %%n%d, 1;", label % 40, label % 40);
          line("setp.ne.u32 %%q, %%n%d, 0;", label % 40);
          line("@%%q bra L%d;", label);
        }
      }
      default -> {
        budget = 12 + pick(30);
        statements(3);
      }
    }
  }

  private void exchange() {
    line("mov.u32 %%x, board; mad.lo.u32 %%x, %%me, 8, %%x;");
    line("st.shared.v2.u32 [%%x], {%s, %s};", word(), word());
    line("bar.sync 0;");
    line("mov.u32 %%y, %%ntid.x; sub.u32 %%y, %%y, 1; sub.u32 %%y, %%y, %%me;");
    line("mov.u32 %%x, board; mad.lo.u32 %%x, %%y, 8, %%x;");
    line("ld.shared.u64 %s, [%%x];", wide());
    line("bar.red.popc.u32 %s, 0, %s;", word(), predicate());
    line("red.shared.add.u32 [board+2040], 1;");
    line("bar.sync 0;");
  }

  private void warp() {
    String member = "0xffffffff";
    switch (pick(6)) {
      case 0 ->
          line(
              "shfl.sync.%s.b32 %s|%s, %s, %d, %s, %s;",
              pick("down", "bfly"), word(), predicate(), word(), 1 + pick(15), "0x1f", member);
      case 1 -> line("shfl.sync.up.b32 %s, %s, %d, 0, %s;", word(), word(), 1 + pick(8), member);
      case 2 -> line("shfl.sync.idx.b32 %s, %s, %s, 0x1f, %s;", word(), word(), word(), member);
      case 3 -> line("vote.sync.ballot.b32 %s, %s, %s;", word(), predicate(), member);
      case 4 ->
          line(
              "vote.sync.%s.pred %s, !%s, %s;",
              pick("any", "all"), predicate(), predicate(), member);
      default -> line("bar.warp.sync %s;", member);
    }
  }

  /** Every thread but one waits for a flag that the one sets. */
  private void await() {
    if (flags == FLAGS || labels > 4) {
      return;
    }
    int flag = 4 * flags++;
    int label = labels++;
    line("setp.eq.u32 %%q, %%me, %d;", pick(32));
    line("@%%q st.release.gpu.global.u32 [%%flags+%d], 1;", flag);
    text.append("W%d:\n".formatted(label));
    line("ld.acquire.gpu.global.u32 %%x, [%%flags+%d];", flag);
    line("setp.eq.u32 %%q, %%x, 0;");
    line("@%%q bra W%d;", label);
  }

  /** Code of one thread. */
  private void statements(int depth) {
    while (budget > 0) {
      budget--;
      switch (pick(depth > 0 ? 14 : 11)) {
        case 0, 1 -> words();
        case 2 -> longs();
        case 3 -> floats();
        case 4 -> compare();
        case 5 -> bits();
        case 6 -> conversions();
        case 7, 8 -> {
          if (inFunction) {
            words();
          } else {
            memory();
          }
        }
        case 9 ->
            line(
                "@%s%s add.u32 %s, %s, %s;",
                pick("", "!"), predicate(), word(), word(), wordOrNumber());
        case 10 -> carry();
        case 11 -> either(depth);
        case 12 -> loop(depth);
        default -> {
          if (inFunction) {
            longs();
          } else {
            call();
          }
        }
      }
    }
  }

  private void words() {
    String row = pick(WORD_ROWS);
    String by = row.startsWith("sh") ? Integer.toString(pick(36)) : wordOrNumber();
    line("%s %s, %s, %s;", row, word(), word(), by);
    if (pick(4) == 0) {
      line("mad.lo.%s %s, %s, %s, %s;", pick("u32", "s32"), word(), word(), wordOrNumber(), word());
    }
  }

  private void longs() {
    line("%s %s, %s, %s;", pick(LONG_ROWS), wide(), wide(), wide());
    switch (pick(4)) {
      case 0 -> line("mul.wide.%s %s, %s, %s;", pick("u32", "s32"), wide(), word(), word());
      case 1 ->
          line("%s %s, %s, %d;", pick("shl.b64", "shr.u64", "shr.s64"), wide(), wide(), pick(70));
      case 2 -> line("mad.wide.s32 %s, %s, %s, %s;", wide(), word(), word(), wide());
      default -> line("shr.s64 %s, %s, %s;", wide(), wide(), word());
    }
  }

  private void floats() {
    line(
        "%s %s, %s, %s;",
        pick("add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32", "div.rn.f32"),
        single(),
        single(),
        single());
    line(
        "fma.rn.%s;",
        pick(2) == 0
            ? "f32 %s, %s, %s, %s".formatted(single(), single(), single(), single())
            : "f64 %s, %s, %s, %s".formatted(real(), real(), real(), real()));
    line("%s %s, %s;", pick("neg.f64", "abs.f64", "sqrt.rn.f64"), real(), real());
  }

  private void compare() {
    String pair = pick(3) == 0 ? "%%p%d|%%p%d".formatted(pick(2), 2 + pick(3)) : predicate();
    switch (pick(6)) {
      case 0 ->
          line(
              "setp.%s.%s %s, %s, %s;",
              pick(COMPARISONS), pick("u64", "s64"), pair, wide(), wide());
      case 1 ->
          line(
              "setp.%s.f32 %s, %s, %s;",
              pick("lt", "geu", "num", "neu", "eq"), pair, single(), single());
      case 2 ->
          line(
              "setp.%s.%s.%s %s, %s, %s, %s;",
              pick(COMPARISONS),
              pick("and", "or", "xor"),
              pick("u32", "s32"),
              pair,
              word(),
              word(),
              predicate());
      case 3 -> line("selp.b32 %s, %s, %s, %s;", word(), word(), wordOrNumber(), predicate());
      case 4 ->
          line(
              "%s.pred %s, %s, %s;",
              pick("and", "or", "xor"), predicate(), predicate(), predicate());
      default ->
          line(
              "setp.%s.%s %s, %s, %s;",
              pick(COMPARISONS), pick("u32", "s32"), pair, word(), wordOrNumber());
    }
  }

  private void bits() {
    switch (pick(9)) {
      case 0 -> line("prmt.b32 %s, %s, %s, 0x%04x;", word(), word(), word(), pick(0x10000));
      case 1 -> line("prmt.b32 %s, %s, 0, 0x123;", word(), word());
      case 2 -> line("mov.b64 %s, {%s, %s};", wide(), word(), word());
      case 3 -> line("mov.b64 {%%r%d, %%r%d}, %s;", pick(5), 5 + pick(5), wide());
      case 4 ->
          line(
              "%s %s, %s;",
              pick("popc.b32", "clz.b32", "brev.b32", "not.b32", "bfind.u32"), word(), word());
      case 5 ->
          line("bfe.%s %s, %s, %d, %d;", pick("u32", "s32"), word(), word(), pick(32), pick(33));
      case 6 -> line("bfi.b32 %s, %s, %s, %d, %d;", word(), word(), word(), pick(32), pick(33));
      case 7 ->
          line(
              "shf.%s.wrap.b32 %s, %s, %s, %s;",
              pick("l", "r"), word(), word(), word(), wordOrNumber());
      default -> line("lop3.b32 %s, %s, %s, %s, %d;", word(), word(), word(), word(), pick(256));
    }
  }

  private void conversions() {
    switch (pick(9)) {
      case 0 -> line("cvt.u64.u32 %s, %s;", wide(), word());
      case 1 -> line("cvt.s64.s32 %s, %s;", wide(), word());
      case 2 -> line("cvt.u32.u64 %s, %s;", word(), wide());
      case 3 -> line("cvt.u16.u32 %s, %s;", half(), word());
      case 4 ->
          line("cvt.%s %s, %s;", pick("u32.u16", "s32.s16", "s32.s8", "u32.u8"), word(), half());
      case 5 -> line("cvt.rzi.s32.f32 %s, %s;", word(), single());
      case 6 -> line("cvt.rn.f32.s32 %s, %s;", single(), word());
      case 7 -> line("cvt.f64.f32 %s, %s;", real(), single());
      default ->
          line(
              "%s %s, %s, %s;",
              pick("add.s16", "sub.u16", "mul.lo.s16", "and.b16"), half(), half(), half());
    }
  }

  private void memory() {
    int cell = 16 * pick(OWN_BYTES / 16);
    switch (pick(14)) {
      case 0 ->
          line("st.global%s.u32 [%%own+%d], %s;", pick("", ".cs"), cell + 4 * pick(4), word());
      case 1 -> line("ld.%sglobal.u32 %s, [%%own+%d];", pick("", "volatile."), word(), cell);
      case 2 ->
          line(
              "ld.global.%s %s, [%%own+%d];",
              pick("u8", "s8", "u16", "s16"), word(), cell + 2 * pick(8));
      case 3 ->
          line(
              "st.global.v4.u32 [%%own+%d], {%s, %s, %s, %s};",
              cell, word(), word(), word(), word());
      case 4 -> line("ld.global.v4.u32 {%%r0, %%r2, %%r4, %%r6}, [%%own+%d];", cell);
      case 5 -> line("ld.v2.u64 {%%rd1, %%rd%d}, [%%own+%d];", 2 + pick(4), cell);
      case 6 -> line("st.release.sys.global.u64 [%%own+%d], %s;", cell, wide());
      case 7 -> line("ld.acquire.sys.u64 %s, [%%own+%d];", wide(), cell + 8);
      case 8 -> {
        int which = pick(3); // a cell of its own each: only the same operation commutes
        String row = which == 0 ? "add.u64" : which == 1 ? "xor.b64" : "max.s64";
        line("red.global.%s [%%cells+%d], %s;", row, 8 * which, wide());
      }
      case 9 ->
          line(
              "atom.global.%s %s, [%%own+%d], %s;",
              pick("add.u32", "exch.b32", "min.s32", "or.b32", "inc.u32"), word(), cell, word());
      case 10 -> line("atom.global.cas.b64 %s, [%%own+%d], %s, %s;", wide(), cell, wide(), wide());
      case 11 ->
          line(
              "%s;",
              pick(2) == 0
                  ? "st.local.u32 [spill+%d], %s".formatted(4 * pick(16), word())
                  : "ld.local.%s %s, [spill+%d]"
                      .formatted(pick("u16", "s8", "u32"), word(), 4 * pick(16)));
      case 12 ->
          line(
              "%s;",
              pick(2) == 0
                  ? "st.u64 [%%gen+%d], %s".formatted(8 * pick(8), wide())
                  : "ld.u32 %s, [%%gen+%d]".formatted(word(), 4 * pick(16)));
      default -> line("%s;", pick("fence.acq_rel.gpu", "membar.sys", "fence.sc.cta"));
    }
  }

  private void carry() {
    line("add.cc.u32 %s, %s, %s;", word(), word(), word());
    line("addc.u32 %s, %s, %s;", word(), word(), word());
  }

  private void either(int depth) {
    int label = labels++;
    line("@%s%s bra E%d;", pick("", "!"), predicate(), label);
    part(depth);
    line("bra%s F%d;", pick("", ".uni"), label);
    text.append("E%d:\n".formatted(label));
    part(depth);
    text.append("F%d:\n".formatted(label));
  }

  private void loop(int depth) {
    int label = labels++;
    if (depth < 2 || label >= 40) {
      return;
    }
    line("and.b32 %%n%d, %s, 7;", label, word());
    text.append("L%d:\n".formatted(label));
    part(depth);
    line("add.u32 %%n%d, %%n%d, 1;", label, label);
    line("setp.lt.u32 %%q, %%n%d, %d;", label, 2 + pick(8));
    line("@%%q bra L%d;", label);
  }

  private void part(int depth) {
    int rest = budget;
    budget = Math.min(rest, 1 + pick(6));
    rest -= budget;
    statements(depth - 1);
    budget = rest;
  }

  private void call() {
    line("{ .param .b32 in0; .param .b64 in1; .param .b32 back;");
    line("st.param.b32 [in0], %s; st.param.b64 [in1], %s;", word(), wide());
    line("call.uni (back), helper%d, (in0, in1);", pick(FUNCTIONS));
    line("ld.param.b32 %s, [back]; }", word());
  }
}
