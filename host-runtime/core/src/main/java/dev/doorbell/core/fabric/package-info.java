/**
 * Carries bytes: ports through which every load, store, atomic, fence, DMA and MMIO of an agent
 * goes, and the fabrics behind them.
 */
@NullMarked
package dev.doorbell.core.fabric;

import org.jspecify.annotations.NullMarked;
