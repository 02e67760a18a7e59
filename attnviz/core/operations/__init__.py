"""Operations: how a stage is computed from earlier ones. Only these modules know."""
