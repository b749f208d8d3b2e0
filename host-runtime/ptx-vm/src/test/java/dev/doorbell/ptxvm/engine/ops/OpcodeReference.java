package dev.doorbell.ptxvm.engine.ops;

import dev.doorbell.ptxvm.ir.Opcode;
import java.util.Map;
import java.util.TreeMap;

/** The opcode table for readers: {@code docs/ptx-opcodes.md} is what {@link #markdown} says. */
public final class OpcodeReference {
  private OpcodeReference() {}

  /** The page, made of the table that decodes instructions. */
  public static String markdown() {
    StringBuilder page =
        new StringBuilder(
            """
            # PTX instructions of the virtual GPU

            Generated from the opcode table of `host-runtime/ptx-vm`; a test fails when this page is
            stale and says how to write it anew. `./doorbell kernel check FILE.ptx` lists what a file needs
            beyond it, all at once, with lines.

            Modifiers that stand for every row of floats: `.rn`, `.ftz` (f32, f16 and pairs; without
            meaning for f64), `.sat`. `.approx` is computed in double precision and rounded once, within every
            documented error. Every instruction may be predicated.

            | instruction | forms |
            | --- | --- |
            """);
    for (Map.Entry<String, String> form : OpTable.forms().entrySet()) {
      page.append("| `%s` | %s |\n".formatted(form.getKey(), code(form.getValue())));
    }
    page.append(
        """

        ## Not executed

        A thread that gets there stops its kernel, with the line and the reason; `kernel check` notes them.
        So does a form of another instruction that PTX has and this page does not name. A file with an
        instruction that PTX does not have is refused when it is loaded.

        | instruction | reason |
        | --- | --- |
        """);
    new TreeMap<>(Opcode.all())
        .forEach(
            (name, opcode) -> {
              if (opcode.refusal() != null) {
                page.append("| `%s` | %s |\n".formatted(name, opcode.refusal()));
              }
            });
    page.append(
        """
        | `barrier.cluster` | clusters are not supported |
        | `cp.async.bulk.tensor` | tensor copies are not supported |
        | `call malloc` | malloc in a kernel is not supported |

        A block is a cluster of its own: `.shared::cluster` is its shared memory and `%cluster_ctarank` is
        0. A kernel with `.reqnctapercluster` of several blocks stops when it is launched.
        """);
    return page.toString();
  }

  /** Words that begin with a dot, as code. */
  private static String code(String forms) {
    return forms.replaceAll("(\\.[A-Za-z][\\w.:]*)", "`$1`").replace("` `", " ");
  }
}
