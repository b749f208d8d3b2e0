package dev.doorbell.ptxvm;

import dev.doorbell.ptxvm.OpcodeProgram.Case;
import java.util.ArrayList;
import java.util.List;

/** Forms that the virtual GPU learned after the first table was recorded; a table of their own. */
final class LaterOpcodes {
  private final List<Case> cases = new ArrayList<>();

  private LaterOpcodes() {}

  static List<Case> cases() {
    LaterOpcodes later = new LaterOpcodes();
    later.integers();
    later.halves();
    later.conversions();
    return later.cases;
  }

  private void add(char inputs, String registers, String text) {
    cases.add(new Case(inputs, registers, text));
  }

  private void integers() {
    for (String type : new String[] {"u16x2", "s16x2"}) {
      for (String op : new String[] {"add", "min", "max"}) {
        add('i', "rrr", op + "." + type + " D, A, B;");
      }
    }
    for (String op : new String[] {"min", "max"}) {
      add('i', "rrr", op + ".relu.s16x2 D, A, B;");
      add('i', "rrr", op + ".s16x2.relu D, A, B;");
      add('i', "rrr", op + ".relu.s32 D, A, B;");
      add('i', "rrr", op + ".s32.relu D, A, B;");
    }
    for (int offset : new int[] {0, 1, 3, 17, 33, -1, -2, -40}) {
      add('i', "rrr", "{ .reg .b32 x; and.b32 x, B, 31; fns.b32 D, A, x, " + offset + "; }");
    }
    for (String sign : new String[] {"u", "s"}) {
      String types = ".u32.%s32.%s32".replace("%s", sign);
      add('i', "rrrr", "vabsdiff4" + types + " D, A, B, C;");
      add('i', "rrrr", "vabsdiff4" + types + ".add D, A, B, C;");
    }
    for (String type : new String[] {"u32", "s32", "u64", "s64"}) {
      String r = type.endsWith("64") ? "lllll" : "rrrrr";
      add(
          'i',
          r,
          "mad.hi.cc.T D, A, B, C; madc.lo.cc.T D, A, E, D; madc.hi.T D, B, C, D;"
              .replace("T", type));
      add('i', r, "sub.cc.T D, A, B; subc.cc.T D, C, E; subc.T D, D, A;".replace("T", type));
    }
    add(
        'i',
        "lll",
        "{ .reg .b128 x, y; .reg .b64 z; mov.b128 x, {A, B}; mov.b128 y, x;"
            + " mov.b128 {D, z}, y; xor.b64 D, D, z; }");
    add(
        'i',
        "rrrr",
        "{ .reg .pred q; setp.lt.u32 q, A, B; slct.u32.s32 D, A, B, C; @q not.b32 D, D; }");
  }

  private void halves() {
    for (String[] type : new String[][] {{"f16", "h"}, {"bf16", "b"}}) {
      String name = type[0];
      char in = type[1].charAt(0);
      for (String op :
          new String[] {
            "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
            "nan"
          }) {
        add(in, "hhh", "set.%o.%t.%t D, A, B;".replace("%o", op).replace("%t", name));
        add(in, "rrr", "set.%o.%tx2.%tx2 D, A, B;".replace("%o", op).replace("%t", name));
        add(in, "phh", "setp.%o.%t D, A, B;".replace("%o", op).replace("%t", name));
      }
      add(in, "hhh", "set.lt.u16.%t D, A, B;".replace("%t", name));
      add(in, "rhh", "set.ge.u32.%t D, A, B;".replace("%t", name));
      add(in, "rhh", "set.ne.s32.%t D, A, B;".replace("%t", name));
      add(
          in,
          "rrr",
          ("{ .reg .pred q, s; setp.lt.%tx2 q|s, A, B; selp.u32 D, 1, 0, q;"
                  + " @s add.u32 D, D, 2; }")
              .replace("%t", name));
    }
    for (String pair : new String[] {"", "x2"}) {
      String r = pair.isEmpty() ? "h" : "r";
      for (String op : new String[] {"add", "sub", "mul"}) {
        for (String modifiers : new String[] {".sat", ".ftz", ".ftz.sat", ".rn.ftz.sat"}) {
          add('h', r + r + r, op + modifiers + ".f16" + pair + " D, A, B;");
        }
      }
      for (String modifiers : new String[] {".sat", ".ftz", ".ftz.sat", ".ftz.relu"}) {
        add('h', r + r + r + r, "fma.rn" + modifiers + ".f16" + pair + " D, A, B, C;");
      }
      for (String op : new String[] {"min.ftz", "max.ftz", "min.ftz.NaN", "max.ftz.NaN"}) {
        add('h', r + r + r, op + ".f16" + pair + " D, A, B;");
      }
      add('h', r + r, "neg.ftz.f16" + pair + " D, A;");
      add('h', r + r, "abs.ftz.f16" + pair + " D, A;");
    }
    add('h', "hhh", "set.lt.ftz.f16.f16 D, A, B;");
    add('h', "rrr", "set.ne.ftz.f16x2.f16x2 D, A, B;");
    add('h', "phh", "setp.eq.ftz.f16 D, A, B;");
    add('f', "fff", "min.ftz.NaN.f32 D, A, B;");
    add('f', "fff", "max.ftz.NaN.f32 D, A, B;");
    add('f', "ffff", "fma.rz.ftz.sat.f32 D, A, B, C;");
  }

  private void conversions() {
    for (String format : new String[] {"e4m3x2", "e5m2x2"}) {
      for (String relu : new String[] {"", ".relu"}) {
        add('f', "hff", "cvt.rn.satfinite" + relu + "." + format + ".f32 D, A, B;");
        add('h', "hr", "cvt.rn.satfinite" + relu + "." + format + ".f16x2 D, A;");
        add('i', "rh", "cvt.rn" + relu + ".f16x2." + format + " D, A;");
      }
    }
    add('i', "rrr", "cvt.pack.sat.u16.s32 D, A, B;");
    add('i', "rrr", "cvt.pack.sat.s16.s32 D, A, B;");
    add('i', "rrrr", "cvt.pack.sat.u8.s32.b32 D, A, B, C;");
    add('i', "rrrr", "cvt.pack.sat.s8.s32.b32 D, A, B, C;");
    add('f', "rf", "cvt.rna.tf32.f32 D, A;");
    add('f', "rf", "cvt.rn.tf32.f32 D, A;");
    add('f', "hf", "cvt.rn.relu.f16.f32 D, A;");
    add('f', "hf", "cvt.rz.relu.bf16.f32 D, A;");
    add('f', "hf", "cvt.rn.sat.f16.f32 D, A;");
    add('f', "hf", "cvt.rn.ftz.f16.f32 D, A;");
    add('f', "rff", "cvt.rn.relu.f16x2.f32 D, A, B;");
    add('f', "rff", "cvt.rz.relu.bf16x2.f32 D, A, B;");
    add('h', "fh", "cvt.sat.f32.f16 D, A;");
    add('h', "fh", "cvt.ftz.f32.f16 D, A;");
    add('f', "ff", "cvt.rni.ftz.f32.f32 D, A;");
    add('f', "ff", "cvt.rzi.sat.f32.f32 D, A;");
    add('h', "hh", "cvt.rzi.f16.f16 D, A;");
    add('h', "hh", "cvt.rpi.f16.f16 D, A;");
    for (String type : new String[] {"u16", "s16", "u32", "s32", "u64", "s64"}) {
      String r = type.endsWith("16") ? "h" : type.endsWith("32") ? "r" : "l";
      add('i', "h" + r, "cvt.rn.bf16." + type + " D, A;");
      add('i', "h" + r, "cvt.rz.bf16." + type + " D, A;");
      add('i', "h" + r, "cvt.rp.f16." + type + " D, A;");
      add('b', r + "h", "cvt.rzi." + type + ".bf16 D, A;");
      add('b', r + "h", "cvt.rmi." + type + ".bf16 D, A;");
      add('h', r + "h", "cvt.rpi." + type + ".f16 D, A;");
    }
    add('d', "hd", "cvt.rn.bf16.f64 D, A;");
    add('b', "dh", "cvt.f64.bf16 D, A;");
    add('h', "hh", "cvt.rn.bf16.f16 D, A;");
    add('b', "hh", "cvt.rn.f16.bf16 D, A;");
  }
}
