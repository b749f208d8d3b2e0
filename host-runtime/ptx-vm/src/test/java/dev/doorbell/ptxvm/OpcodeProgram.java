package dev.doorbell.ptxvm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A PTX file with one kernel an instruction: every lane of one warp loads four operands, executes
 * the instruction once and stores the result. The same file ran on an NVIDIA H200; what came out is
 * the resource {@code opcodes-h200.bin}.
 */
final class OpcodeProgram {
  static final int LANES = 32;

  /**
   * One kernel.
   *
   * @param inputs which operands it gets: i integers, f f32, d f64, h f16, b bf16
   * @param registers type letters of D, A, B, C, E: h .b16, r .b32, l .b64, f .f32, d .f64, p .pred
   * @param text the instruction, with these letters for its operands
   */
  record Case(char inputs, String registers, String text) {}

  private final List<Case> cases = new ArrayList<>();

  /** A program of other cases. */
  OpcodeProgram(List<Case> cases) {
    this.cases.addAll(cases);
  }

  OpcodeProgram() {
    integers();
    bits();
    comparisons();
    floats();
    halves();
    conversions();
    warps();
  }

  List<Case> cases() {
    return cases;
  }

  private void add(char inputs, String registers, String text) {
    cases.add(new Case(inputs, registers, text));
  }

  private static String register(int bits) {
    return bits == 16 ? "h" : bits == 32 ? "r" : "l";
  }

  private void integers() {
    for (int bits : new int[] {16, 32, 64}) {
      String r = register(bits);
      for (String sign : new String[] {"u", "s"}) {
        String type = "." + sign + bits;
        for (String op :
            new String[] {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"}) {
          add('i', r + r + r, op + type + " D, A, B;");
        }
        add('i', r + r + r + r, "mad.lo" + type + " D, A, B, C;");
        add('i', r + r + r + r, "mad.hi" + type + " D, A, B, C;");
        add('i', r + r + r + r, "sad" + type + " D, A, B, C;");
        if (bits < 64) {
          String w = register(bits * 2);
          add('i', w + r + r, "mul.wide" + type + " D, A, B;");
          add('i', w + r + r + w, "mad.wide" + type + " D, A, B, C;");
          add('i', w + r + w, "mad.wide" + type + " D, A, 77, B;");
        }
        add('i', r + r + "r", "shr" + type + " D, A, B;");
        if (bits > 16) {
          add('i', r + r + "rr", "bfe" + type + " D, A, B, C;");
          add('i', "r" + r, "bfind" + type + " D, A;");
          add('i', "r" + r, "bfind.shiftamt" + type + " D, A;");
        }
      }
      add('i', r + r, "neg.s" + bits + " D, A;");
      add('i', r + r, "abs.s" + bits + " D, A;");
      add('i', r + r + "r", "shl.b" + bits + " D, A, B;");
      for (String op : new String[] {"and", "or", "xor"}) {
        add('i', r + r + r, op + ".b" + bits + " D, A, B;");
      }
      add('i', r + r, "not.b" + bits + " D, A;");
      add('i', r + r, "cnot.b" + bits + " D, A;");
    }
    add('i', "rrr", "add.sat.s32 D, A, B;");
    add('i', "rrr", "sub.sat.s32 D, A, B;");
    add('i', "rrrr", "mad.hi.sat.s32 D, A, B, C;");
    for (String type : new String[] {"u32", "s32"}) {
      add('i', "rrr", "mul24.lo." + type + " D, A, B;");
      add('i', "rrr", "mul24.hi." + type + " D, A, B;");
      add('i', "rrrr", "mad24.lo." + type + " D, A, B, C;");
      for (String other : new String[] {"u32", "s32"}) {
        add('i', "rrrr", "dp4a." + type + "." + other + " D, A, B, C;");
        add('i', "rrrr", "dp2a.lo." + type + "." + other + " D, A, B, C;");
        add('i', "rrrr", "dp2a.hi." + type + "." + other + " D, A, B, C;");
      }
    }
    for (String type : new String[] {"u32", "s32", "u64", "s64"}) {
      String r = register(type.endsWith("64") ? 64 : 32);
      add('i', r + r + r + r + r, "add.cc." + type + " D, A, B; addc." + type + " D, C, E;");
      add('i', r + r + r + r + r, "sub.cc." + type + " D, A, B; subc." + type + " D, C, E;");
      add(
          'i',
          r + r + r + r + r,
          "mad.lo.cc." + type + " D, A, B, C; madc.hi." + type + " D, A, B, E;");
      add(
          'i',
          r + r + r + r + r,
          "add.cc." + type + " D, A, B; addc.cc." + type + " D, C, E; addc." + type + " D, D, 0;");
    }
  }

  private void bits() {
    add('i', "rr", "popc.b32 D, A;");
    add('i', "rl", "popc.b64 D, A;");
    add('i', "rr", "clz.b32 D, A;");
    add('i', "rl", "clz.b64 D, A;");
    add('i', "rr", "brev.b32 D, A;");
    add('i', "ll", "brev.b64 D, A;");
    add('i', "rrrrr", "bfi.b32 D, A, B, C, E;");
    add('i', "lllrr", "bfi.b64 D, A, B, C, E;");
    add('i', "rrr", "bmsk.clamp.b32 D, A, B;");
    add('i', "rrr", "bmsk.wrap.b32 D, A, B;");
    for (String type : new String[] {"u32", "s32"}) {
      add('i', "rrr", "szext.clamp." + type + " D, A, B;");
      add('i', "rrr", "szext.wrap." + type + " D, A, B;");
    }
    for (String mode : new String[] {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}) {
      add('i', "rrrr", "prmt.b32" + mode + " D, A, B, C;");
    }
    for (String mode : new String[] {"l.wrap", "r.wrap", "l.clamp", "r.clamp"}) {
      add('i', "rrrr", "shf." + mode + ".b32 D, A, B, C;");
    }
    for (int table : new int[] {0x00, 0x1b, 0x3c, 0x80, 0x96, 0xca, 0xe8, 0xf8, 0xfe, 0xff}) {
      add('i', "rrrr", "lop3.b32 D, A, B, C, " + table + ";");
    }
    add('i', "lrr", "mov.b64 D, {A, B};");
    add('i', "rhh", "mov.b32 D, {A, B};");
    add('i', "rl", "{ .reg .b32 x; mov.b64 {x, D}, A; }");
    add('i', "hr", "{ .reg .b16 x; mov.b32 {D, x}, A; }");
    add('i', "lrrr", "{ .reg .b16 x, y; mov.b32 {x, y}, A; mov.b64 D, {y, x, y, x}; }");
    add('i', "rrrr", "slct.u32.s32 D, A, B, C;");
    add('f', "frrf", "{ .reg .f32 x, y; mov.b32 x, A; mov.b32 y, B; slct.f32.f32 D, x, y, C; }");
    add('i', "lllr", "slct.u64.s32 D, A, B, C;");
    add('i', "rrrr", "{ .reg .pred q; setp.lt.s32 q, A, B; selp.b32 D, A, C, q; }");
    add('i', "lllr", "{ .reg .pred q; setp.ne.u32 q, C, 0; selp.u64 D, A, B, q; }");
    add(
        'i',
        "rrr",
        "{ .reg .pred q; setp.gt.u32 q, A, B; mov.u32 D, 1; @q mov.u32 D, A; @!q add.s32 D, B, D; }");
  }

  private void comparisons() {
    for (String type : new String[] {"u16", "s16", "u32", "s32", "u64", "s64"}) {
      String r = register(Integer.parseInt(type.substring(1)));
      for (String op : new String[] {"eq", "ne", "lt", "le", "gt", "ge"}) {
        add('i', "p" + r + r, "setp." + op + "." + type + " D, A, B;");
      }
    }
    for (String op : new String[] {"lo", "ls", "hi", "hs"}) {
      add('i', "prr", "setp." + op + ".u32 D, A, B;");
    }
    for (String[] type : new String[][] {{"f32", "f"}, {"f64", "d"}}) {
      for (String op :
          new String[] {
            "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
            "nan"
          }) {
        add(type[1].charAt(0), "p" + type[1] + type[1], "setp." + op + "." + type[0] + " D, A, B;");
      }
    }
    add('f', "pff", "setp.lt.ftz.f32 D, A, B;");
    for (String op : new String[] {"and", "or", "xor"}) {
      add('i', "prrr", "{ .reg .pred q; setp.ne.s32 q, C, 0; setp.lt." + op + ".s32 D, A, B, q; }");
      add(
          'i',
          "prrr",
          "{ .reg .pred q, n; setp.gt.s32 q, C, 0; setp.le." + op + ".u32 n|D, A, B, !q; }");
    }
    add('i', "rrr", "set.lt.u32.s32 D, A, B;");
    add('i', "frr", "set.ge.f32.u32 D, A, B;");
    add('f', "rff", "set.gtu.u32.f32 D, A, B;");
  }

  private void floats() {
    for (String[] type : new String[][] {{"f32", "f"}, {"f64", "d"}}) {
      char in = type[1].charAt(0);
      String f = type[1];
      for (String rounding : new String[] {"rn", "rz", "rm", "rp"}) {
        String suffix = "." + rounding + "." + type[0];
        add(in, f + f + f, "add" + suffix + " D, A, B;");
        add(in, f + f + f, "sub" + suffix + " D, A, B;");
        add(in, f + f + f, "mul" + suffix + " D, A, B;");
        add(in, f + f + f, "div" + suffix + " D, A, B;");
        add(in, f + f + f + f, "fma" + suffix + " D, A, B, C;");
        add(in, f + f, "sqrt" + suffix + " D, A;");
        add(in, f + f, "rcp" + suffix + " D, A;");
      }
      for (String op : new String[] {"min", "max", "add", "mul", "copysign"}) {
        add(in, f + f + f, op + "." + type[0] + " D, A, B;");
      }
      add(in, f + f, "neg." + type[0] + " D, A;");
      add(in, f + f, "abs." + type[0] + " D, A;");
      for (String test :
          new String[] {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
        add(in, "p" + f, "testp." + test + "." + type[0] + " D, A;");
      }
    }
    for (String op : new String[] {"add", "sub", "mul", "div.rn", "min", "max"}) {
      add('f', "fff", op + ".ftz.f32 D, A, B;");
    }
    for (String op : new String[] {"add", "mul"}) {
      add('f', "fff", op + ".sat.f32 D, A, B;");
      add('f', "fff", op + ".rz.ftz.sat.f32 D, A, B;");
    }
    add('f', "ffff", "fma.rn.ftz.f32 D, A, B, C;");
    add('f', "ffff", "fma.rn.sat.f32 D, A, B, C;");
    add('f', "fff", "min.NaN.f32 D, A, B;");
    add('f', "fff", "max.NaN.f32 D, A, B;");
    add('f', "ff", "add.f32 D, A, 0f3FC00000;");
    add('d', "dd", "add.f64 D, A, 0d3FF8000000000000;");
    add('f', "ff", "mul.f32 D, A, 1.5;");
  }

  private void halves() {
    for (String[] type : new String[][] {{"f16", "h"}, {"bf16", "b"}}) {
      char in = type[1].charAt(0);
      for (String pair : new String[] {"", "x2"}) {
        String r = pair.isEmpty() ? "h" : "r";
        String suffix = "." + type[0] + pair;
        for (String op :
            new String[] {"add.rn", "sub.rn", "mul.rn", "min", "max", "min.NaN", "max.NaN"}) {
          add(in, r + r + r, op + suffix + " D, A, B;");
        }
        add(in, r + r + r + r, "fma.rn" + suffix + " D, A, B, C;");
        add(in, r + r + r + r, "fma.rn.relu" + suffix + " D, A, B, C;");
        add(in, r + r, "neg" + suffix + " D, A;");
        add(in, r + r, "abs" + suffix + " D, A;");
      }
      for (String op : new String[] {"eq", "ne", "lt", "ge", "ltu", "nan"}) {
        add(in, "phh", "setp." + op + "." + type[0] + " D, A, B;");
      }
    }
  }

  private void conversions() {
    String[] integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
    for (String to : integers) {
      for (String from : integers) {
        int toBits = Integer.parseInt(to.substring(1));
        int fromBits = Integer.parseInt(from.substring(1));
        String d = register(Math.max(16, toBits));
        String a = register(Math.max(16, fromBits));
        add('i', d + a, "cvt." + to + "." + from + " D, A;");
        boolean loses =
            to.charAt(0) == from.charAt(0)
                ? toBits < fromBits
                : from.charAt(0) == 's' || toBits <= fromBits;
        if (loses) {
          add('i', d + a, "cvt.sat." + to + "." + from + " D, A;");
        }
        if (toBits < 32) {
          add('i', "r" + a, "cvt." + to + "." + from + " D, A;");
        }
      }
    }
    for (String[] real : new String[][] {{"f32", "f"}, {"f64", "d"}}) {
      String f = real[1];
      for (String integer : integers) {
        String r = register(Math.max(16, Integer.parseInt(integer.substring(1))));
        for (String rounding : new String[] {"rn", "rz", "rm", "rp"}) {
          String round = "cvt." + rounding;
          add(f.charAt(0), r + f, round + "i." + integer + "." + real[0] + " D, A;");
          add('i', f + r, round + "." + real[0] + "." + integer + " D, A;");
        }
      }
      for (String rounding : new String[] {"rni", "rzi", "rmi", "rpi"}) {
        add(f.charAt(0), f + f, "cvt." + rounding + "." + real[0] + "." + real[0] + " D, A;");
      }
    }
    for (String rounding : new String[] {"rn", "rz", "rm", "rp"}) {
      add('d', "fd", "cvt." + rounding + ".f32.f64 D, A;");
    }
    add('f', "df", "cvt.f64.f32 D, A;");
    add('f', "df", "cvt.ftz.f64.f32 D, A;");
    add('f', "ff", "cvt.sat.f32.f32 D, A;");
    add('d', "fd", "cvt.rn.sat.f32.f64 D, A;");
    add('d', "fd", "cvt.rn.ftz.f32.f64 D, A;");
    add('f', "rf", "cvt.rzi.ftz.s32.f32 D, A;");
    add('h', "fh", "cvt.f32.f16 D, A;");
    add('h', "dh", "cvt.f64.f16 D, A;");
    add('b', "fh", "cvt.f32.bf16 D, A;");
    add('f', "hf", "cvt.rn.f16.f32 D, A;");
    add('f', "hf", "cvt.rz.f16.f32 D, A;");
    add('f', "hf", "cvt.rm.f16.f32 D, A;");
    add('f', "hf", "cvt.rp.f16.f32 D, A;");
    add('d', "hd", "cvt.rn.f16.f64 D, A;");
    add('f', "hf", "cvt.rn.bf16.f32 D, A;");
    add('f', "hf", "cvt.rz.bf16.f32 D, A;");
    add('f', "hf", "cvt.rn.relu.bf16.f32 D, A;");
    add('f', "rff", "cvt.rn.f16x2.f32 D, A, B;");
    add('f', "rff", "cvt.rn.bf16x2.f32 D, A, B;");
    add('f', "rff", "cvt.rz.bf16x2.f32 D, A, B;");
    add('h', "rh", "cvt.rzi.s32.f16 D, A;");
    add('h', "hh", "cvt.rni.u16.f16 D, A;");
    add('i', "hr", "cvt.rn.f16.s32 D, A;");
    add('i', "hl", "cvt.rn.f16.u64 D, A;");
    add('h', "hh", "cvt.rmi.f16.f16 D, A;");
  }

  private void warps() {
    for (String mode : new String[] {"up", "down", "bfly", "idx"}) {
      for (String clamp : new String[] {"B", "31", "0", "4127", "7199", "6151"}) {
        add('i', "rrrr", "shfl.sync." + mode + ".b32 D, A, C, " + clamp + ", -1;");
        add(
            'i',
            "prrr",
            "{ .reg .b32 x; shfl.sync." + mode + ".b32 x|D, A, C, " + clamp + ", -1; }");
      }
      add('i', "rrrr", "shfl.sync." + mode + ".b32 D, A, 1, 31, -1;");
    }
    for (String mode : new String[] {"all", "any", "uni"}) {
      add(
          'i',
          "pr",
          "{ .reg .pred q; setp.ne.u32 q, A, 0; vote.sync." + mode + ".pred D, q, -1; }");
      add(
          'i',
          "pr",
          "{ .reg .pred q; setp.ne.u32 q, A, A; vote.sync." + mode + ".pred D, !q, -1; }");
    }
    add('i', "rr", "{ .reg .pred q; setp.lt.s32 q, A, 0; vote.sync.ballot.b32 D, q, -1; }");
    add('i', "rr", "{ .reg .b32 x; and.b32 x, A, 3; match.any.sync.b32 D, x, -1; }");
    add('i', "rl", "{ .reg .b64 x; and.b64 x, A, 1; match.any.sync.b64 D, x, -1; }");
    add('i', "rr", "{ .reg .pred q; match.all.sync.b32 D|q, A, -1; }");
    add('i', "pr", "{ .reg .b32 x; match.all.sync.b32 x|D, 5, -1; }");
    for (String op : new String[] {"add", "min", "max"}) {
      add('i', "rr", "redux.sync." + op + ".s32 D, A, -1;");
      add('i', "rr", "redux.sync." + op + ".u32 D, A, -1;");
    }
    for (String op : new String[] {"and", "or", "xor"}) {
      add('i', "rr", "redux.sync." + op + ".b32 D, A, -1;");
    }
    add('i', "pr", "{ .reg .b32 x; elect.sync x|D, -1; }");
    add('i', "rr", "activemask.b32 D;");
    add('i', "rr", "{ .reg .pred q; setp.lt.s32 q, A, 0; bar.red.popc.u32 D, 1, 32, q; }");
    add(
        'i',
        "rr",
        "{ .reg .pred q; .reg .b32 x; mov.u32 x, %laneid; setp.lt.u32 q, x, 11;"
            + " barrier.sync 2; bar.red.popc.u32 D, 0, q; }");
    add('i', "pr", "{ .reg .pred q; setp.ne.u32 q, A, 0; bar.red.and.pred D, 3, q; }");
    add('i', "pr", "{ .reg .pred q; setp.ne.u32 q, A, 0; bar.red.or.pred D, 3, !q; }");
    for (String name :
        new String[] {
          "%laneid",
          "%tid.x",
          "%tid.y",
          "%ntid.x",
          "%ctaid.z",
          "%nctaid.x",
          "%warpid",
          "%lanemask_eq",
          "%lanemask_le",
          "%lanemask_lt",
          "%lanemask_ge",
          "%lanemask_gt"
        }) {
      add('i', "rr", "mov.u32 D, " + name + ";");
    }
  }

  /** The PTX text. */
  String ptx() {
    StringBuilder ptx = new StringBuilder(".version 8.3\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < cases.size(); i++) {
      ptx.append(kernel(i, cases.get(i)));
    }
    return ptx.toString();
  }

  private static String kernel(int index, Case one) {
    StringBuilder body = new StringBuilder();
    Map<Character, String> names = new TreeMap<>();
    for (int k = 0; k < one.registers.length(); k++) {
      char letter = "DABCE".charAt(k);
      char type = one.registers.charAt(k);
      String name = "%v" + letter;
      names.put(letter, name);
      body.append("  .reg .").append(typeName(type)).append(' ').append(name).append(";\n");
      if (k > 0) {
        body.append("  ld.global.u64 %x, [%in+%d];\n".replace("%d", "" + (k - 1) * 8));
        body.append("  ").append(narrow(type, name)).append('\n');
      }
    }
    body.append("  ").append(substitute(one.text, names)).append('\n');
    body.append("  ").append(widen(one.registers.charAt(0), "%vD")).append('\n');
    return """

        .visible .entry t%d(.param .u64 in, .param .u64 out) {
          .reg .b64 %%in, %%out, %%x, %%o;
          .reg .b32 %%t;
          ld.param.u64 %%in, [in];
          ld.param.u64 %%out, [out];
          mov.u32 %%t, %%tid.x;
          mad.wide.u32 %%in, %%t, 32, %%in;
          mad.wide.u32 %%out, %%t, 8, %%out;
        %s  st.global.u64 [%%out], %%x;
          ret;
        }
        """
        .formatted(index, body);
  }

  private static String substitute(String text, Map<Character, String> names) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean alone =
          (i == 0 || !Character.isLetterOrDigit(text.charAt(i - 1)))
              && (i + 1 == text.length() || !Character.isLetterOrDigit(text.charAt(i + 1)));
      out.append(alone && names.containsKey(c) ? names.get(c) : String.valueOf(c));
    }
    return out.toString();
  }

  private static String typeName(char letter) {
    return switch (letter) {
      case 'h' -> "b16";
      case 'r' -> "b32";
      case 'l' -> "b64";
      case 'f' -> "f32";
      case 'd' -> "f64";
      default -> "pred";
    };
  }

  private static String narrow(char type, String name) {
    return switch (type) {
      case 'h' -> "cvt.u16.u64 " + name + ", %x;";
      case 'r' -> "cvt.u32.u64 " + name + ", %x;";
      case 'f' -> "cvt.u32.u64 %t, %x; mov.b32 " + name + ", %t;";
      default -> "mov.b64 " + name + ", %x;";
    };
  }

  private static String widen(char type, String name) {
    return switch (type) {
      case 'h' -> "cvt.u64.u16 %x, " + name + ";";
      case 'r' -> "cvt.u64.u32 %x, " + name + ";";
      case 'f' -> "mov.b32 %t, " + name + "; cvt.u64.u32 %x, %t;";
      case 'p' -> "selp.u64 %x, 1, 0, " + name + ";";
      default -> "mov.b64 %x, " + name + ";";
    };
  }
}
