"""Operations: how a stage is made from earlier ones, one in each module. Nothing outside knows how."""
