/** The uverbs ABI of Linux and the messages of the preload library, as numbers and bytes. */
@NullMarked
package dev.doorbell.interop.shim.abi;

import org.jspecify.annotations.NullMarked;
