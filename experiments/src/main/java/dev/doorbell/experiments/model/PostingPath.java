package dev.doorbell.experiments.model;

import java.util.Locale;

/**
 * The ways in which a message gets from GPU memory to an HCA that may emit it. Letters: a, the HCA
 * pulls the payload from GPU memory; b, the payload is in the WQE; c, the GPU pushes it to on-chip
 * memory; d, the GPU pushes it to host memory; e, the CPU posts for the GPU.
 */
public enum PostingPath {
  A1(
      "pull, the CPU posts with BlueFlame",
      "o_c + L_CN + S(64) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  A2(
      "pull, the CPU posts with a doorbell, WQE in host memory",
      "o_c + L_CN + p_db + (2 L_NH + m_H + S_c(64)) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  A3(
      "pull, the GPU posts with a doorbell, WQE in GPU memory",
      "o_g + 2 F_d + L_GN + p_db + (2 L_GN + m_G + S_c(64)) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  A4(
      "pull, the GPU posts with a doorbell, WQE in host memory",
      "o_g + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(64)) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  A5(
      "pull, the GPU posts with BlueFlame",
      "o_g + F_d + S(64) + L_GN + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  B1(
      "inline, the GPU posts with a doorbell, WQE in GPU memory",
      "o_g + 2 F_d + L_GN + p_db + (2 L_GN + m_G + S_c(W)) + p_w + p_x"),
  B2(
      "inline, the GPU posts with a doorbell, WQE in host memory",
      "o_g + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(W)) + p_w + p_x"),
  B3("inline, the GPU posts with BlueFlame", "o_g + S(W) + L_GN + p_w + p_x"),
  C1(
      "push to on-chip memory, the GPU posts with BlueFlame",
      "o_g + S_w(N) + F_m + L_GN + S(64) + p_w + t_memic + p_x"),
  C1_UNFENCED(
      "push to on-chip memory without a fence, the GPU posts with BlueFlame",
      "o_g + S_w(N) + L_GN + S(64) + p_w + t_memic + p_x"),
  C2(
      "push to on-chip memory, the GPU posts with a doorbell, WQE in GPU memory",
      "o_g + S_w(N) + F_m + L_GN + p_db + (2 L_GN + m_G + S_c(64)) + p_w + t_memic + p_x"),
  D(
      "push to host memory, the GPU posts with a doorbell, WQE in host memory",
      "o_g + S_w(N) + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(64)) + p_w + (2 L_NH + m_H + S_c(N))"
          + " + p_x"),
  D_PROXY(
      "push to host memory, the CPU posts with BlueFlame",
      "o_g + S_w(N) + F_s + L_GH + t_poll + o_c + L_CN + S(64) + p_w + (2 L_NH + m_H + S_c(N)) + p_x"),
  E1(
      "pull, the CPU posts with BlueFlame on the GPU's command",
      "o_g + L_GH + t_poll + o_c + L_CN + S(64) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  E3(
      "the copy engine copies to host memory, the CPU posts with BlueFlame",
      "t_ce + N / B_ce + o_c + L_CN + S(64) + p_w + (2 L_NH + m_H + S_c(N)) + p_x");

  private final String description;
  private final String formula;

  PostingPath(String description, String formula) {
    this.description = description;
    this.formula = formula;
  }

  /** What happens, in words. */
  public String description() {
    return description;
  }

  /** The latency's closed form in the symbols of {@link PathModel}. */
  public String formula() {
    return formula;
  }

  /** The short name: {@code a1}, {@code c1-unfenced}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The payload lies in the WQE. */
  public boolean inline() {
    return this == B1 || this == B2 || this == B3;
  }

  /** The HCA reads the payload from GPU memory. */
  public boolean pulls() {
    return this == A1 || this == A2 || this == A3 || this == A4 || this == A5 || this == E1;
  }

  /** The HCA reads something, the payload or the WQE, from GPU memory. */
  public boolean readsGpu() {
    return pulls() || this == B1 || this == C2;
  }
}
