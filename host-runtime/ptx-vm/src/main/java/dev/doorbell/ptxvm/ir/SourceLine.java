package dev.doorbell.ptxvm.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Source of an instruction, by the line table of the PTX ({@code .file} and {@code .loc}).
 *
 * @param file as {@code .file} spells it; empty when nothing is known
 * @param line from 1; 0 when nothing is known
 * @param column from 1, or 0
 * @param function the mangled name of the inlined function that the line lies in, or empty
 * @param inlinedAt where that function was inlined, or null
 */
public record SourceLine(
    String file, int line, int column, String function, @Nullable SourceLine inlinedAt) {
  /** Line of an instruction without a line table. */
  public static final SourceLine NONE = new SourceLine("", 0, 0, "", null);

  public SourceLine(String file, int line, int column) {
    this(file, line, column, "", null);
  }

  /** True when there is no line table for the instruction. */
  public boolean isEmpty() {
    return line == 0 && file.isEmpty();
  }

  public String fileName() {
    return file.substring(file.lastIndexOf('/') + 1);
  }

  /** True for headers of the CUDA toolkit. */
  public boolean isToolkit() {
    return file.startsWith("cuda/")
        || file.contains("/cccl/")
        || file.contains("/cuda/include/")
        || (file.startsWith("/usr/local/cuda") && file.contains("/include/"));
  }

  /** This line and those that it was inlined into, innermost first. */
  public List<SourceLine> frames() {
    List<SourceLine> frames = new ArrayList<>();
    for (SourceLine at = this; at != null; at = at.inlinedAt) {
      frames.add(at);
    }
    return frames;
  }

  /** The innermost line that is not the toolkit's; this one when all are. */
  public SourceLine own() {
    for (SourceLine frame : frames()) {
      if (!frame.isToolkit()) {
        return frame;
      }
    }
    return this;
  }

  /** {@code post.cuh:112, inlined at put_rate.cu:40}, from the innermost own line outwards. */
  @Override
  public String toString() {
    if (isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (SourceLine frame : own().frames()) {
      text.append(text.isEmpty() ? "" : ", inlined at ")
          .append(frame.fileName())
          .append(':')
          .append(frame.line);
    }
    return text.toString();
  }
}
