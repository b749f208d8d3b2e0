/**
 * Memory as the PTX memory model and PCIe allow it to look, and the happens-before checker over it:
 * the fabric under which a missing fence shows.
 *
 * <p>{@link dev.doorbell.core.fabric.explore.model.MemoryMachine} is the model by itself; {@code
 * ExploringFabric} runs agents over it. Whatever is left open, a value that a load may return, an
 * agent that may go next, is asked of a {@link dev.doorbell.core.fabric.explore.model.Chooser}, so
 * that a run is fixed by its choices.
 */
@NullMarked
package dev.doorbell.core.fabric.explore;

import org.jspecify.annotations.NullMarked;
