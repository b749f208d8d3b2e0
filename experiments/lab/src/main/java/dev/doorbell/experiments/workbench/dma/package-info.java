/**
 * Measures the DMA of one device over a topology in virtual time, as pcie-bench measures it (R.
 * Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018).
 */
@NullMarked
package dev.doorbell.experiments.workbench.dma;

import org.jspecify.annotations.NullMarked;
