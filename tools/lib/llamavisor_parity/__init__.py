"""The independent side of the parity gate: docs/parity.md. Shares no code with the C++ library."""
