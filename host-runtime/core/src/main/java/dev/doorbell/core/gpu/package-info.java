/**
 * The contract of a GPU: memory, modules, launches. Kept by the PTX virtual machine and by real
 * devices alike.
 */
@NullMarked
package dev.doorbell.core.gpu;

import org.jspecify.annotations.NullMarked;
