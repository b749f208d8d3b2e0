package dev.doorbell.experiments.model;

import java.util.Locale;

/**
 * The ways in which a message gets from GPU memory to an HCA that may emit it. Letters: a, the HCA
 * pulls the payload from GPU memory; b, the payload is in the WQE; c, the GPU pushes it to on-chip
 * memory; d, the GPU pushes it to host memory; e, the CPU posts for the GPU.
 */
public enum PostingPath {
  /** Pull, the GPU posts with a doorbell, WQE in GPU memory. */
  A3("o_g + 2 F_d + L_GN + p_db + (2 L_GN + m_G + S_c(64)) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  /** Pull, the GPU posts with a doorbell, WQE in host memory. */
  A4("o_g + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(64)) + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  /** Pull, the GPU posts with BlueFlame. */
  A5("o_g + F_d + S(64) + L_GN + p_w + (2 L_GN + m_G + S_c(N)) + p_x"),
  /** Inline, the GPU posts with a doorbell, WQE in GPU memory. */
  B1("o_g + 2 F_d + L_GN + p_db + (2 L_GN + m_G + S_c(W)) + p_w + p_x"),
  /** Inline, the GPU posts with a doorbell, WQE in host memory. */
  B2("o_g + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(W)) + p_w + p_x"),
  /** Inline, the GPU posts with BlueFlame. */
  B3("o_g + S(W) + L_GN + p_w + p_x"),
  /** Push to on-chip memory, the GPU posts with BlueFlame. */
  C1("o_g + S_w(N) + F_m + L_GN + S(64) + p_w + t_memic + p_x"),
  /** Push to host memory, the GPU posts with a doorbell, WQE in host memory. */
  D(
      "o_g + S_w(N) + 2 F_s + L_GN + p_db + (2 L_NH + m_H + S_c(64)) + p_w + (2 L_NH + m_H +"
          + " S_c(N)) + p_x"),
  /** Pull, the CPU posts with BlueFlame on the GPU's command. */
  E1("o_g + L_GH + t_poll + o_c + L_CN + S(64) + p_w + (2 L_GN + m_G + S_c(N)) + p_x");

  private final String formula;

  PostingPath(String formula) {
    this.formula = formula;
  }

  /** The latency's closed form in the symbols of {@link PathModel}. */
  public String formula() {
    return formula;
  }

  /** The short name: {@code a3}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The payload lies in the WQE. */
  public boolean inline() {
    return this == B1 || this == B2 || this == B3;
  }

  /** The HCA reads the payload from GPU memory. */
  public boolean pulls() {
    return this == A3 || this == A4 || this == A5 || this == E1;
  }

  /** The HCA reads something, the payload or the WQE, from GPU memory. */
  public boolean readsGpu() {
    return pulls() || this == B1;
  }
}
